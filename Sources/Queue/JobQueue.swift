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
  ///
  /// - Parameter announces: whether waiting workers are told of it once it is committed; not for a call that is part of a
  ///   transaction. Both together take one way to the server and back.
  @discardableResult
  package static func enqueue(
    _ job: NewJob, announces: Bool = false, _ session: Session
  ) throws(PostgresError) -> Int64? {
    let isSimple = job.uniqueKey == nil && job.share == nil && job.limit == nil
    var parameters: [Parameter] = [
      .text(job.publicID.description), .text(job.queue), .text(job.kind), .double(job.delay),
      .integer(job.priority), .integer(job.maxAttempts), .integer(job.deadlineSeconds), .text(job.author),
      .bytes(job.definition), .text(job.request), .text(String(decoding: job.arguments, as: UTF8.self)),
    ]
    if !isSimple {
      parameters += [
        .bytes(job.uniqueKey),
        .text(job.share?.name), .double(job.share?.seconds), .text(job.limit?.name),
        .integer(job.limit.map { Int64($0.most) }),
      ]
    }
    let statement = statements[isSimple ? "enqueue_simple" : "enqueue"]
    let rows =
      announces
      ? try session.execute(
        statement, parameters, then: statements["announce"], [.text(QueueChannel.jobs), .text(job.queue)])
      : try session.execute(statement, parameters)
    return try rows.first?.get("id")
  }

  /// Tells waiting workers that there may be a job; to be called after the commit, never inside the transaction.
  package static func announce(queue: String, _ session: Session) throws(PostgresError) {
    try session.execute(statements["announce"], .text(QueueChannel.jobs), .text(queue))
  }

  /// Tells whoever waits for a job that it has changed; to be called after the commit.
  package static func tell(of job: PublicID, _ session: Session) throws(PostgresError) {
    try session.execute(statements["announce"], .text(QueueChannel.changes), .text(job.description))
  }

  /// Tells whoever waits for one of these jobs that it has changed; to be called after the commit.
  package static func tell(of jobs: [PublicID], _ session: Session) throws(PostgresError) {
    try session.execute(
      statements["announce_many"], .text(QueueChannel.changes), .texts(jobs.map(\.description)))
  }
}
