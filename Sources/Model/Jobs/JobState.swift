/// Where a job stands.
package enum JobState: String, Codable, Sendable, CaseIterable {
  /// Waits for its time, for instance between two attempts.
  case scheduled
  /// Waits for a worker.
  case available
  /// A worker holds its lease.
  case executing
  /// Ended with a verdict, accepted or rejected.
  case completed
  case cancelled
  /// Out of attempts; an operator may retry it.
  case dead

  /// Whether nothing more will happen by itself.
  package var isFinal: Bool { self == .completed || self == .cancelled || self == .dead }
}
