import Crypto

/// What was offered a short while ago, as far as that is remembered.
struct RecentlyOffered {
  private let interval: Duration
  private let most: Int
  // Two generations: one is filled, the other forgotten as a whole, so that the memory has a bound.
  private var young: Set<SHA256Digest> = []
  private var old: Set<SHA256Digest> = []
  private var turned: ContinuousClock.Instant

  /// - Parameters:
  ///   - interval: for so long at least a blob is remembered, unless `most` others come.
  ///   - most: in one generation.
  init(interval: Duration, most: Int, now: ContinuousClock.Instant) {
    self.interval = interval
    self.most = most
    turned = now
  }

  /// Whether it was offered; else it is remembered from now on.
  mutating func note(_ hash: SHA256Digest, now: ContinuousClock.Instant) -> Bool {
    if young.count >= most || turned + interval <= now {
      old = turned + interval * 2 <= now ? [] : young
      young = []
      turned = now
    }
    return old.contains(hash) || !young.insert(hash).inserted
  }
}
