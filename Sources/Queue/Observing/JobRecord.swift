package import FoundationEssentials
package import Model
package import Postgres

/// A job in any state, as operators and clients see it.
package struct JobRecord: Sendable, Hashable {
  /// The primary key in the database.
  package let id: Int64
  package let publicID: PublicID
  package let queue: String
  package let kind: String
  package let state: JobState
  /// 0 to 9, and below 0 once the job has a head start; nil once the job has ended.
  package let priority: Int?
  package let attempt: Int
  package let maxAttempts: Int
  package let lost: Int
  package let author: String?
  package let request: String?
  package let createdAt: Date
  /// The time from which the next attempt may start; nil once the job has ended.
  package let runAt: Date?
  package let startedAt: Date?
  /// The deadline of the attempt; nil unless the job executes.
  package let deadlineAt: Date?
  package let finishedAt: Date?
  /// Whether the job executes and its worker is asked to stop it.
  package let isCancelling: Bool
  /// Whether the job waits because its limit has no room.
  package let isThrottled: Bool
  /// The name of the limit under which the job runs.
  package let limit: String?
  /// The id of the worker that holds the job or held it last.
  package let worker: Int64?
  /// The worker's `host:process`; nil if its row is gone.
  package let workerProcess: String?
  /// The error of the last failed attempt.
  package let error: String?
  /// A JSON object.
  package let arguments: [UInt8]
  /// A JSON object; nil unless the job has completed with a result.
  package let result: [UInt8]?
  /// Whether the job completed with the outcome rejected.
  package let isRejected: Bool
  package let progress: JobProgress

  init(_ row: Row) throws(PostgresError) {
    id = try row.get("id")
    publicID = try row.publicID("public_id")
    queue = try row.get("queue")
    kind = try row.get("kind")
    let text = try row.get("state", as: String.self)
    guard let state = JobState(rawValue: text) else { throw PostgresError(.decoding, "unknown job state '\(text)'") }
    self.state = state
    priority = try row.get("priority")
    attempt = try row.get("attempt")
    maxAttempts = try row.get("max_attempts")
    lost = try row.get("lost")
    author = try row.get("author")
    request = try row.get("request")
    createdAt = Date(microseconds: try row.get("created_at"))
    runAt = try row.get("run_at", as: Int64?.self).map(Date.init(microseconds:))
    startedAt = try row.get("started_at", as: Int64?.self).map(Date.init(microseconds:))
    deadlineAt = try row.get("deadline_at", as: Int64?.self).map(Date.init(microseconds:))
    isCancelling = try row.get("is_cancelling")
    isThrottled = try row.get("is_throttled")
    isRejected = try row.get("is_rejected")
    limit = try row.get("limit_name")
    worker = try row.get("worker_id")
    let process = try row.get("worker_process", as: Int?.self)
    workerProcess = try row.get("worker_host", as: String?.self).map { "\($0):\(process ?? 0)" }
    finishedAt = try row.get("finished_at", as: Int64?.self).map(Date.init(microseconds:))
    error = try row.get("last_error")
    arguments = Array(try row.get("arguments", as: String.self).utf8)
    result = try row.get("result", as: String?.self).map { Array($0.utf8) }
    let fraction = try row.get("fraction", as: Double?.self)
    progress = JobProgress(
      fraction: state == .completed ? 1 : fraction ?? 0, stage: try row.get("stage", as: String?.self) ?? "")
  }

  /// The summary that is part of a post.
  package var summary: JobSummary {
    JobSummary(id: publicID, state: state, progress: progress.fraction, mayGoAhead: mayGoAhead)
  }

  /// Whether the job waits without a head start.
  package var mayGoAhead: Bool { (state == .available || state == .scheduled) && (priority ?? -1) >= 0 }
}

extension Date {
  /// A time in microseconds since 1970-01-01 UTC.
  package init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }
}

/// Queries for jobs in any state.
extension JobQueue {
  /// Reads a job by its public id; nil if it does not exist.
  package static func find(_ id: PublicID, _ session: Session) throws(PostgresError) -> JobRecord? {
    try find([id], session).first
  }

  /// Reads jobs by their public ids, in no particular order.
  package static func find(_ ids: [PublicID], _ session: Session) throws(PostgresError) -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    let (statement, parameters) = finding(ids)
    return try found(session.execute(statement, parameters), ids, session)
  }

  /// The statement of `find`, for a caller that executes others with it. Its rows are passed to `found`.
  package static func finding(_ ids: [PublicID]) -> (statement: Statement, parameters: [Parameter]) {
    if ids.count == 1 { return JobSelection.found(ids[0]) }
    var selection = JobSelection(JobFilter(ids: ids))
    return (selection.found(), selection.parameters)
  }

  /// Reads the rows of `finding`, and the jobs that are missing in them.
  package static func found(
    _ rows: Rows, _ ids: [PublicID], _ session: Session
  ) throws(PostgresError) -> [JobRecord] {
    var jobs: [JobRecord] = []
    for row in rows { jobs.append(try JobRecord(row)) }
    guard jobs.count < ids.count else { return jobs }
    // The jobs do not exist, or the clock that made their ids was far ahead: search the entire history.
    let rest = Set(ids).subtracting(jobs.map(\.publicID))
    guard !rest.isEmpty else { return jobs }
    var selection = JobSelection(JobFilter(ids: Array(rest)), trustsIDs: false)
    return try jobs + records(selection.found(), selection.parameters, session)
  }

  /// Lists jobs, newest first.
  package static func list(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> [JobRecord] {
    var selection = JobSelection(filter)
    return try records(selection.records(), selection.parameters, session)
  }

  /// The number of jobs that match a filter; the filter's limit is ignored.
  package static func count(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> Int {
    var selection = JobSelection(filter)
    let statement = selection.count()
    return try session.execute(statement, selection.parameters).single().get("jobs")
  }

  /// The lines of `EXPLAIN (ANALYZE, BUFFERS)` for a list.
  package static func explain(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> [String] {
    var selection = JobSelection(filter)
    let statement = selection.records()
    let explained = Statement(
      name: "explain." + statement.name, text: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + statement.text)
    var lines: [String] = []
    for row in try session.execute(explained, selection.parameters) { lines.append(try row.get("QUERY PLAN")) }
    return lines
  }

  private static func records(
    _ statement: Statement, _ parameters: [Parameter], _ session: Session
  ) throws(PostgresError) -> [JobRecord] {
    var jobs: [JobRecord] = []
    for row in try session.execute(statement, parameters) { jobs.append(try JobRecord(row)) }
    return jobs
  }
}
