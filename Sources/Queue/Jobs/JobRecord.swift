package import FoundationEssentials
package import Model
import Postgres

/// A job as an operator sees it, wherever it stands.
package struct JobRecord: Sendable, Hashable {
  /// Inside the database: the cursor of lists.
  package let id: Int64
  package let publicID: PublicID
  package let queue: String
  package let kind: String
  package let state: JobState
  /// 0 to 9; nil once it is over.
  package let priority: Int?
  package let attempt: Int
  package let maxAttempts: Int
  package let lost: Int
  package let author: String?
  package let request: String?
  package let createdAt: Date
  /// When the next attempt may begin; nil once it is over.
  package let runAt: Date?
  package let startedAt: Date?
  /// When its attempt is taken from its worker, if it runs.
  package let deadlineAt: Date?
  package let finishedAt: Date?
  /// Whether its worker was told to stop it.
  package let isCancelling: Bool
  /// Whether it waits for room under its limit.
  package let isThrottled: Bool
  /// The name of the limit under which it runs.
  package let limit: String?
  /// The number of the worker that has, or had, it.
  package let worker: Int64?
  /// Where that worker runs, as long as it is known: `host:process`.
  package let workerProcess: String?
  /// What the last failed attempt died of.
  package let error: String?
  /// A JSON object.
  package let arguments: [UInt8]
  /// A JSON object: what it ended with.
  package let result: [UInt8]?
  /// Whether it completed with a rejection.
  package let isRejected: Bool
  package let progress: JobProgress

  init(_ row: Row) throws(PostgresError) {
    id = try row.get("id")
    publicID = try row.publicID("public_id")
    queue = try row.get("queue")
    kind = try row.get("kind")
    let text = try row.get("state", as: String.self)
    guard let state = JobState(rawValue: text) else { throw PostgresError(.decoding, "there is no job state \(text)") }
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

  /// What a post tells of it.
  package var summary: JobSummary { JobSummary(id: publicID, state: state, progress: progress.fraction) }
}

extension Date {
  /// A time in microseconds since 1970-01-01 UTC, as PostgreSQL's are read.
  package init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }
}
