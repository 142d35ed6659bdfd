/// The elements that were seen lately, with bounded memory.
package struct RecentSet<Element: Hashable & Sendable>: Sendable {
  private let interval: Duration
  private let maxCount: Int
  // Two generations: the old one is discarded as the young one replaces it.
  private var young: Set<Element> = []
  private var old: Set<Element> = []
  private var rotated: ContinuousClock.Instant

  /// - Parameters:
  ///   - interval: the minimum time for which an element is remembered, unless `maxCount` others are seen; the maximum is twice
  ///     as long.
  ///   - maxCount: the size of one generation.
  package init(interval: Duration, maxCount: Int = 1 << 15, now: ContinuousClock.Instant) {
    self.interval = interval
    self.maxCount = maxCount
    rotated = now
  }

  /// Notes that an element is seen; returns whether it was seen lately.
  @discardableResult
  package mutating func note(_ element: Element, now: ContinuousClock.Instant) -> Bool {
    rotate(now)
    return old.contains(element) || !young.insert(element).inserted
  }

  /// Whether an element was seen lately.
  package mutating func contains(_ element: Element, now: ContinuousClock.Instant) -> Bool {
    rotate(now)
    return old.contains(element) || young.contains(element)
  }

  private mutating func rotate(_ now: ContinuousClock.Instant) {
    guard young.count >= maxCount || rotated + interval <= now else { return }
    old = rotated + interval * 2 <= now ? [] : young
    young = []
    rotated = now
  }
}
