/// What was read or computed a short time ago, with a bounded size.
///
/// It has two generations: the younger one is filled, and the older one forgotten as a whole, so that no request searches
/// for old entries.
package struct RecentEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    let value: Value
    let until: ContinuousClock.Instant
  }

  /// The maximum number of entries of a generation.
  private let maxEntries: Int
  private let lifetime: Duration
  private var young: [Key: Entry] = [:]
  private var old: [Key: Entry] = [:]
  private var since = ContinuousClock.now

  /// - Parameters:
  ///   - lifetime: the time for which a value is known.
  ///   - maxEntries: of one of the two generations.
  package init(lifetime: Duration, maxEntries: Int) {
    self.lifetime = lifetime
    self.maxEntries = maxEntries
  }

  /// Returns a value that was inserted within the lifetime.
  package func value(of key: Key) -> Value? {
    let entry = young[key] ?? old[key]
    let now = ContinuousClock.now
    return entry.flatMap { $0.until > now ? $0.value : nil }
  }

  /// Inserts a value that was right at a time.
  package mutating func insert(_ value: Value, of key: Key, at time: ContinuousClock.Instant) {
    if young.count >= maxEntries || time - since > lifetime { (young, old, since) = ([:], young, time) }
    young[key] = Entry(value: value, until: time + lifetime)
  }

  /// Removes the values that a condition holds for.
  mutating func remove(where isRemoved: (Value) -> Bool) {
    young = young.filter { !isRemoved($0.value.value) }
    old = old.filter { !isRemoved($0.value.value) }
  }
}
