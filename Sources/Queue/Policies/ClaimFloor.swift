/// From which rank on a claim looks for jobs, while there are more than it takes: past what was claimed already.
///
/// While somebody's old snapshot keeps the server from removing what is gone, every claim would wade through it again.
/// What comes in below, with a head start, is found by the claim that looks at everything, once a second, or as soon as
/// the queue is empty. The floor only saves time: nothing depends on it. Pure: the caller has the clock.
package struct ClaimFloor: Sendable, Hashable {
  /// How often everything is looked at.
  package static let fullScanInterval = Duration.seconds(1)

  private var floor = Int64.min
  private var lastFullScan: Duration?

  package init() {}

  /// The least rank to look at.
  ///
  /// - Parameter time: since any moment that stays the same, by a clock that only goes forward.
  package mutating func next(at time: Duration) -> Int64 {
    if let last = lastFullScan, time - last < Self.fullScanInterval { return floor }
    lastFullScan = time
    floor = .min
    return floor
  }

  /// Notes what a claim brought.
  ///
  /// - Parameters:
  ///   - ranks: of the jobs, in any order.
  ///   - limit: how many were asked for.
  package mutating func note(_ ranks: some Collection<Int64>, limit: Int) {
    // All below the highest are claimed, by this one or by others, whose jobs it skipped.
    floor = ranks.count < limit ? .min : max(floor, ranks.max() ?? .min)
  }
}
