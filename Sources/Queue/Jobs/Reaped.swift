package import Model

/// A job that was taken from a lost worker, or from one that held it past its deadline.
package struct Reaped: Sendable, Hashable {
  package let id: Int64
  package let publicID: PublicID
  package let kind: String
  /// Scheduled for another attempt, dead, or cancelled.
  package let state: JobState
}
