/// How much a storm is to be.
package struct StormConfiguration: Sendable {
  /// Decides about all that happens; the same seed makes the same decisions in the same order.
  package var seed: UInt64
  /// It goes on until so many jobs are enqueued.
  package var jobs = 20_000
  /// And until so many faults have happened.
  package var faults = 300
  package var workers = 6
  package var producers = 3
  /// Producers wait while more jobs than this are live.
  package var maxLive = 20
  /// Jobs of the largest transaction.
  package var maxBatch = 40
  /// Between two faults.
  package var pause: ClosedRange<Int> = 100...1100
  /// It ends after this long, whatever is still missing.
  package var limit: Duration = .seconds(900)

  package init(seed: UInt64) { self.seed = seed }
}
