import Platform

/// Where processes of a storm over reprocessing kill themselves, by a seed.
struct StormFailpoints: Sendable {
  /// All that can be interrupted, and what reprocessing itself passes.
  private let all: [Failpoint]
  private let own: [Failpoint]
  private var random: SplitMix64

  init(_ failpoints: [Failpoint], seed: UInt64) {
    all = failpoints
    own = failpoints.filter { point in
      ["reprocessing.", "store.keep_", "blob"].contains { point.name.hasPrefix($0) }
    }
    random = SplitMix64(seed: seed)
  }

  /// For the next process; nil: it comes to no such point.
  mutating func next() -> String? {
    // Two in three, and most of those where outputs take the place of others.
    guard Int.random(in: 0..<3, using: &random) > 0,
      let point = (Int.random(in: 0..<4, using: &random) > 0 ? own : all).randomElement(using: &random)
    else { return nil }
    let moment = Bool.random(using: &random) ? "before" : "after"
    return "\(point.name).\(moment)=kill@\(Int.random(in: 1...12, using: &random))"
  }
}
