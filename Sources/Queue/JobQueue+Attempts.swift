package import Model
package import Postgres

/// What the holder of a lease does with its job; every write is fenced by the token.
extension JobQueue {
  /// Takes up to `limit` jobs of a queue, the first in rank first, each under a token of its own; none if the worker
  /// was swept away.
  ///
  /// - Parameter lease: the secret of this claim, from which the tokens are made.
  package static func claim(
    worker: Int64, queue: String, limit: Int, lease: Lease = Lease(), _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    try jobs(
      session.execute(
        statements["claim"], .integer(worker), .text(queue), .integer(limit), .integer(lease.number)))
  }

  /// What claims gave whose answers were never heard: what is still held under their leases.
  package static func claimed(
    worker: Int64, leases: [Lease], _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    try jobs(session.execute(statements["claimed"], .integer(worker), .integers(leases.map(\.number))))
  }

  /// In the order of their ranks.
  static func jobs(_ rows: Rows) throws(PostgresError) -> [ClaimedJob] {
    var jobs: [ClaimedJob] = []
    jobs.reserveCapacity(rows.count)
    for row in rows { jobs.append(try ClaimedJob(row)) }
    jobs.sort { ($0.rank, $0.id) < ($1.rank, $1.id) }
    return jobs
  }

  /// Ends a job; throws `LeaseLost`, so that the caller's transaction rolls back, if the token is not the job's.
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

  /// Gives a failed job another attempt after `seconds`.
  package static func retry(
    _ job: ClaimedJob, afterSeconds seconds: Double, error: String, _ session: Session
  ) throws {
    try fenced(
      job,
      session.execute(
        statements["retry"], .integer(job.id), .integer(job.token), .double(seconds), .text(error)))
  }

  /// Puts a job without attempts left among the dead.
  package static func bury(_ job: ClaimedJob, error: String, _ session: Session) throws {
    try fenced(job, session.execute(statements["bury"], .integer(job.id), .integer(job.token), .text(error)))
  }

  /// Gives a job back unused: the attempt does not count.
  package static func release(_ job: ClaimedJob, _ session: Session) throws {
    try fenced(job, session.execute(statements["release"], .integer(job.id), .integer(job.token)))
  }

  /// Puts a job off for `seconds`: what it waits for is not there yet, and the attempt does not count.
  package static func snooze(_ job: ClaimedJob, seconds: Double, _ session: Session) throws {
    try fenced(
      job,
      session.execute(statements["snooze"], .integer(job.id), .integer(job.token), .double(seconds)))
  }

  /// Puts a job off for `seconds`: what every job of its kind needs is not to be had, and the attempt does not count.
  ///
  /// - Parameter error: what is not to be had.
  package static func postpone(_ job: ClaimedJob, seconds: Double, error: String, _ session: Session) throws {
    try fenced(
      job,
      session.execute(
        statements["postpone"], .integer(job.id), .integer(job.token), .double(seconds), .text(error)))
  }

  /// Notes how far a job has come; a lost lease is no error here, the next beat tells.
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
