package import Model

/// How many jobs of a kind stand somewhere.
package struct QueueDepth: Sendable, Hashable {
  package let queue: String
  package let kind: String
  package let state: JobState
  package let jobs: Int
  /// How long the one that waits longest has waited.
  package let oldestSeconds: Double
}
