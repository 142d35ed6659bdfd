package import FoundationEssentials
import Postgres

/// A worker as an operator sees it.
package struct WorkerRecord: Sendable, Hashable {
  package let id: Int64
  package let host: String
  package let process: Int
  package let startedAt: Date
  /// How long ago its last sign of life was.
  package let silenceSeconds: Double
  /// Whether that is within its lease.
  package let isAlive: Bool
  /// How many jobs it holds.
  package let jobs: Int

  init(_ row: Row) throws(PostgresError) {
    id = try row.get("id")
    host = try row.get("host")
    process = try row.get("process")
    startedAt = Date(microseconds: try row.get("started_at"))
    silenceSeconds = try row.get("silence")
    isAlive = try row.get("is_alive")
    jobs = try row.get("jobs")
  }
}
