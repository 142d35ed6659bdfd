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

  /// A worker that was lost this often with a job takes the blame: the job is dead.
  package static let mostLost = 3

  /// Puts a job into its queue; nil if a live job has its unique key.
  @discardableResult
  package static func enqueue(_ job: NewJob, _ session: Session) throws(PostgresError) -> Int64? {
    let rows = try session.execute(
      statements["enqueue"], .text(job.publicID.description), .text(job.queue), .text(job.kind), .double(job.delay),
      .integer(job.priority), .integer(job.maxAttempts), .integer(job.deadlineSeconds), .bytes(job.uniqueKey),
      .text(job.author), .bytes(job.definition), .text(job.request),
      .text(String(decoding: job.arguments, as: UTF8.self)), .text(job.share?.name), .double(job.share?.seconds),
      .text(job.limit?.name), .integer(job.limit.map { Int64($0.most) }))
    return try rows.first?.get("id")
  }

  /// Tells waiting workers that there may be a job; to be called after the commit, never inside the transaction.
  package static func announce(queue: String, _ session: Session) throws(PostgresError) {
    try session.execute(statements["announce"], .text(QueueChannel.jobs), .text(queue))
  }

  /// Reads a job by its public id; nil if there is none.
  package static func find(_ id: PublicID, _ session: Session) throws(PostgresError) -> JobRecord? {
    try find([id], session).first
  }

  /// Reads jobs by their public ids, in no particular order.
  package static func find(_ ids: [PublicID], _ session: Session) throws(PostgresError) -> [JobRecord] {
    var jobs: [JobRecord] = []
    for row in try session.execute(statements["find"], .texts(ids.map(\.description))) {
      jobs.append(try JobRecord(row))
    }
    return jobs
  }

  /// Tells whoever waits for a job that it has changed; to be called after the commit.
  package static func tell(of job: PublicID, _ session: Session) throws(PostgresError) {
    try session.execute(statements["announce"], .text(QueueChannel.changes), .text(job.description))
  }

  /// Lists jobs, the newest first.
  package static func list(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> [JobRecord] {
    let rows = try session.execute(
      statements["list"], .text(filter.state?.rawValue), .text(filter.kind), .text(filter.author),
      .text(filter.before?.description), .integer(filter.limit))
    var jobs: [JobRecord] = []
    for row in rows { jobs.append(try JobRecord(row)) }
    return jobs
  }

  /// How many jobs stand where.
  package static func depths(_ session: Session) throws(PostgresError) -> [QueueDepth] {
    var depths: [QueueDepth] = []
    for row in try session.execute(statements["depths"]) {
      guard let state = JobState(rawValue: try row.get("state")) else { continue }
      depths.append(
        QueueDepth(
          queue: try row.get("queue"), kind: try row.get("kind"), state: state, jobs: try row.get("jobs"),
          oldestSeconds: try row.get("oldest")))
    }
    return depths
  }

  /// Cancels a job, in the caller's transaction; one that runs is stopped by its worker.
  package static func cancel(_ id: PublicID, _ session: Session) throws(PostgresError) -> Cancelling {
    let parameter = Parameter.text(id.description)
    // Between two looks it may have moved: from its row into a group, or back.
    for _ in 0..<3 {
      if try !session.execute(statements["hold"], parameter).isEmpty {
        if try session.execute(statements["cancel_waiting"], parameter).first != nil { return .cancelled }
        if try session.execute(statements["cancel_executing"], parameter).first != nil { return .requested }
      }
      if try session.execute(statements["cancel_member"], parameter).first != nil { return .requested }
    }
    return .notLive
  }

  /// Lets a dead job, or one that waits for its next attempt, be tried at once; false if it is neither.
  package static func retryNow(_ id: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    let parameter = Parameter.text(id.description)
    if try session.execute(statements["redrive"], parameter).first != nil { return true }
    return try session.execute(statements["hasten"], parameter).first != nil
  }
}
