package import Model
package import Postgres

/// The job queue: statements on a session, each its own transaction or part of the caller's.
///
/// It knows nothing of posts. Execution is at least once; a job's effects happen exactly once when they are written in
/// the transaction of its `complete`. All times are the server's. No triggers, no session state: it works behind a
/// pooler that lends connections per transaction.
package enum JobQueue {
  /// Its SQL. A test that breaks a statement, to see what would notice, puts another value here for its own task.
  @TaskLocal static var statements = Statements(topic: "queue", PackageResources.Queue_sql)

  /// Puts a job into its queue; nil if a live job has its unique key.
  @discardableResult
  package static func enqueue(_ job: NewJob, _ session: Session) throws(PostgresError) -> Int64? {
    return try session.execute(
      statements["enqueue"], .text(job.publicID.description), .text(job.queue), .text(job.kind), .double(job.delay),
      .integer(job.priority), .integer(job.maxAttempts), .integer(job.deadlineSeconds), .text(job.author),
      .bytes(job.definition), .text(job.request), .text(String(decoding: job.arguments, as: UTF8.self)),
      .bytes(job.uniqueKey), .text(job.share?.name), .double(job.share?.seconds), .text(job.limit?.name),
      .integer(job.limit.map { Int64($0.max) })
    ).first?.get("id")
  }

  /// Tells waiting workers that there may be a job: once the open transaction is committed, where there is one.
  ///
  /// A commit that notifies waits for every other that does, in the whole cluster: so it is never the one that keeps the job.
  package static func notify(queue: String, _ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(statements["notify"], .text(QueueChannel.jobs), .text(queue))
  }

  /// Tells whoever waits for a job that it has changed, as `announce` does.
  package static func notifyChange(of job: PublicID, _ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(statements["notify"], .text(QueueChannel.changes), .text(job.description))
  }

  /// Tells whoever waits for one of these jobs that it has changed, as `announce` does.
  package static func notifyChange(of jobs: [PublicID], _ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(
      statements["notify_many"], .text(QueueChannel.changes), .texts(jobs.map(\.description)))
  }
}
