import Postgres

/// What became of the jobs of a kind within a time.
package struct FinishedJobs: Sendable, Hashable {
  package let kind: String
  package let accepted: Int
  package let rejected: Int
  package let cancelled: Int
  /// Attempts that they took, in sum.
  package let attempts: Int
  /// How often their workers were lost, in sum.
  package let lost: Int
  /// How long the last attempts of those that were not cancelled took, in seconds: the median, and what 95 and 99 of a
  /// hundred stayed below; nil if there is none.
  package let p50: Double?
  package let p95: Double?
  package let p99: Double?

  init(_ row: Row) throws(PostgresError) {
    kind = try row.get("kind")
    accepted = try row.get("accepted")
    rejected = try row.get("rejected")
    cancelled = try row.get("cancelled")
    attempts = try row.get("attempts")
    lost = try row.get("lost")
    p50 = try row.get("p50")
    p95 = try row.get("p95")
    p99 = try row.get("p99")
  }

  package var jobs: Int { accepted + rejected + cancelled }
}
