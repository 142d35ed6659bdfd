package import Model

/// How many jobs of a kind stand somewhere.
package struct QueueDepth: Sendable, Hashable {
  package let queue: String
  package let kind: String
  package let state: JobState
  package let jobs: Int
  /// How long the one that waits longest has waited: since it could run, or since it died.
  package let oldestSeconds: Double
  /// The attempts that they have begun, in sum.
  package let attempts: Int
  /// How often their workers were lost, in sum.
  package let lost: Int
}
