import Model
import Postgres

/// The attempts that a worker has ended within the last hour, by the kind of their jobs.
package struct RecentAttempts: Sendable, Hashable {
  package struct Figures: Codable, Sendable, Hashable {
    /// The number of jobs that were completed, accepted or rejected, and of attempts that failed.
    package var completed: Int
    package var failed: Int
    /// The median and the 95th percentile of the time of an attempt, in seconds.
    package var p50: Double
    package var p95: Double

    package init(completed: Int, failed: Int, p50: Double, p95: Double) {
      self.completed = completed
      self.failed = failed
      self.p50 = p50
      self.p95 = p95
    }
  }

  package var kinds: [String: Figures]

  package init(kinds: [String: Figures] = [:]) { self.kinds = kinds }

  /// Reads what a worker has written; nil: it is one of an earlier version.
  init(_ text: String?) throws(PostgresError) {
    do { kinds = try text.map { try JSON.decode([String: Figures].self, from: Array($0.utf8)) } ?? [:] } catch {
      throw PostgresError(.decoding, "the figures of a worker: \(JSON.reason(error))")
    }
  }
}
