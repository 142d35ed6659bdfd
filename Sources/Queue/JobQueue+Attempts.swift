package import Model
package import Postgres

/// The statements of a job's holder; the token fences every write.
extension JobQueue {
  /// Claims up to `limit` jobs of a queue in the order of their ranks, each with its own token; none if the worker's
  /// row was swept.
  ///
  /// - Parameter lease: the random number from which the tokens are derived.
  package static func claim(
    worker: Int64, queue: String, limit: Int, lease: Lease = Lease(), _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    try jobs(
      session.execute(
        statements["claim"], .integer(worker), .text(queue), .integer(limit), .integer(lease.number)))
  }

  /// The jobs that a worker holds under these leases: finds what claims returned whose replies were lost.
  package static func claimed(
    worker: Int64, leases: [Lease], _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    try jobs(session.execute(statements["claimed"], .integer(worker), .integers(leases.map(\.number))))
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

  /// Schedules another attempt after a pause.
  package static func retry(
    _ job: ClaimedJob, afterSeconds seconds: Double, error: String, _ session: Session
  ) throws {
    try fenced(
      job,
      session.execute(
        statements["retry"], .integer(job.id), .integer(job.token), .double(seconds), .text(error)))
  }

  /// Moves a job that has no attempts left to the dead jobs.
  package static func bury(_ job: ClaimedJob, error: String, _ session: Session) throws {
    try fenced(job, session.execute(statements["bury"], .integer(job.id), .integer(job.token), .text(error)))
  }

  /// Returns a job unused; the attempt does not count.
  package static func release(_ job: ClaimedJob, _ session: Session) throws {
    try fenced(job, session.execute(statements["release"], .integer(job.id), .integer(job.token)))
  }

  /// Puts a job off because something that it waits for is not ready; the attempt does not count.
  package static func snooze(_ job: ClaimedJob, seconds: Double, _ session: Session) throws {
    try fenced(
      job,
      session.execute(statements["snooze"], .integer(job.id), .integer(job.token), .double(seconds)))
  }

  /// Puts a job off because of an outage; the attempt does not count.
  ///
  /// - Parameter error: what is missing.
  package static func postpone(_ job: ClaimedJob, seconds: Double, error: String, _ session: Session) throws {
    try fenced(
      job,
      session.execute(
        statements["postpone"], .integer(job.id), .integer(job.token), .double(seconds), .text(error)))
  }

  /// Stores the progress of a job. A lost lease is not an error here: the next heartbeat reports it.
  package static func report(
    _ progress: JobProgress, of job: ClaimedJob, _ session: Session
  ) throws(PostgresError) {
    try session.execute(
      statements["progress"], .integer(job.id), .integer(job.token), .double(progress.fraction), .text(progress.stage),
      .text(QueueChannel.changes), .text(job.publicID.description))
  }

  private static func fenced(_ job: ClaimedJob, _ rows: Rows) throws(LeaseLost) {
    guard !rows.isEmpty else { throw LeaseLost(job: job.id) }
  }
}
