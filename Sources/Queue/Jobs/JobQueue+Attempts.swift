package import Model
package import Postgres

/// The statements of a job's holder; the token fences every write.
extension JobQueue {
  /// Claims up to `limit` jobs of a queue in the order of their ranks, each with its own token; none if the worker's
  /// row was swept.
  ///
  /// - Parameter number: the random number from which the tokens are derived.
  package static func claim(
    worker: Int64, queue: String, limit: Int, number: ClaimNumber = ClaimNumber(), _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    try jobs(
      session.execute(
        statements["claim"], .integer(worker), .text(queue), .integer(limit), .integer(number.value)))
  }

  /// The jobs that a worker holds from claims with these numbers: finds what claims returned whose replies were lost.
  package static func claimed(
    worker: Int64, numbers: [ClaimNumber], _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    try jobs(session.execute(statements["claimed"], .integer(worker), .integers(numbers.map(\.value))))
  }

  /// Reads jobs, and sorts them by rank.
  private static func jobs(_ rows: Rows) throws(PostgresError) -> [ClaimedJob] {
    var jobs: [ClaimedJob] = []
    jobs.reserveCapacity(rows.count)
    for row in rows { jobs.append(try ClaimedJob(row)) }
    jobs.sort { ($0.rank, $0.id) < ($1.rank, $1.id) }
    return jobs
  }

  /// Completes a job; throws `LeaseLost`, which rolls the caller's transaction back, if the token is not the job's.
  ///
  /// - Parameter result: a JSON object.
  package static func complete(
    _ job: ClaimedJob, _ completion: Completion, result: [UInt8]?, _ session: Session
  ) throws {
    try fenced(
      job,
      session.execute(
        statements["complete"], .integer(job.id), .integer(job.token), .text(completion.rawValue),
        .text(result.map { String(decoding: $0, as: UTF8.self) })))
  }

  /// Locks a job that the attempt still holds until the commit; throws `LeaseLost`, which rolls the caller's transaction back, if the token
  /// is not the job's.
  package static func confirm(_ job: ClaimedJob, _ session: Session) throws {
    try fenced(job, session.execute(statements["confirm"], .integer(job.id), .integer(job.token)))
  }

  /// Deletes a job that has done its turn: the history has nothing of it.
  package static func drop(_ job: ClaimedJob, _ session: Session) throws {
    try fenced(job, session.execute(statements["drop_held"], .integer(job.id), .integer(job.token)))
  }

  /// Ends a failed attempt: schedules the next one after a pause, or moves the job to the dead jobs if it has no attempts
  /// left.
  ///
  /// - Returns: whether the job will run again.
  package static func fail(
    _ job: ClaimedJob, error: String, by policy: RetryPolicy = RetryPolicy(), _ session: Session
  ) throws -> Bool {
    let row = try fenced(
      job,
      session.execute(
        statements["fail"], .integer(job.id), .integer(job.token), .text(error), .double(policy.firstPause),
        .double(policy.maxPause)))
    return try notifyingSchedule(if: row.get("runs_again"), session)
  }

  /// Returns a job unused, and notifies the workers of its queue; the attempt does not count.
  package static func release(_ job: ClaimedJob, _ session: Session) throws {
    try fenced(job, session.execute(statements["release"], .integer(job.id), .integer(job.token)))
    try notify(queue: job.queue, session)
  }

  /// Returns a job whose turn is over: it goes behind the others of its queue. The attempt does not count.
  package static func requeue(_ job: ClaimedJob, _ session: Session) throws {
    try fenced(job, session.execute(statements["requeue"], .integer(job.id), .integer(job.token)))
    try notify(queue: job.queue, session)
  }

  /// Puts a job off because something that it waits for is not ready; the attempt does not count.
  package static func snooze(_ job: ClaimedJob, seconds: Double, _ session: Session) throws {
    try fenced(
      job,
      session.execute(statements["snooze"], .integer(job.id), .integer(job.token), .double(seconds)))
    try notifySchedule(session)
  }

  /// Puts a job off because of an outage; the attempt does not count. Moves it to the dead jobs if it was postponed for
  /// too long.
  ///
  /// - Parameter error: names the service that is out, such as the store of blobs.
  /// - Returns: whether the job will run again.
  package static func postpone(
    _ job: ClaimedJob, error: String, by policy: RetryPolicy = RetryPolicy(), _ session: Session
  ) throws -> Bool {
    let row = try fenced(
      job,
      session.execute(
        statements["postpone"], .integer(job.id), .integer(job.token), .text(error), .double(policy.firstPause),
        .double(policy.maxPause), .double(policy.maxPostponement)))
    return try notifyingSchedule(if: row.get("runs_again"), session)
  }

  private static func notifyingSchedule(if runsAgain: Bool, _ session: Session) throws(PostgresError) -> Bool {
    if runsAgain { try notifySchedule(session) }
    return runsAgain
  }

  /// Stores the progress of a job. A lost lease is not an error here: the next heartbeat reports it.
  package static func report(
    _ progress: JobProgress, of job: ClaimedJob, _ session: Session
  ) throws(PostgresError) {
    try session.execute(
      statements["progress"], .integer(job.id), .integer(job.token), .double(progress.fraction), .text(progress.stage),
      .text(QueueChannel.changes), .text(job.publicID.description))
  }

  /// The fence: an attempt whose lease another one has writes nothing. `WorkingTests.stale` tests it for a publication.
  @discardableResult
  private static func fenced(_ job: ClaimedJob, _ rows: Rows) throws(LeaseLost) -> Row {
    guard let row = rows.first else { throw LeaseLost(job: job.id) }
    return row
  }
}
