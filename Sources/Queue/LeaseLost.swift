/// The job is no longer this attempt's: whatever else the transaction wrote must be rolled back.
package struct LeaseLost: Error, Sendable, Hashable, CustomStringConvertible {
  /// The job's id inside the database.
  package let job: Int64

  package var description: String { "the lease of job \(job) was lost" }
}
