/// A measure of how often something may happen: so many at once, and then so many a second.
struct TokenBucket: Sendable, Hashable {
  /// How often in a second, in the long run.
  let rate: Double
  /// How often at once.
  let burst: Double
  private var tokens: Double
  private var last: Double

  /// - Parameter now: in seconds.
  init(perMinute: Int, now: Double) {
    rate = Double(perMinute) / 60
    burst = Double(perMinute)
    tokens = burst
    last = now
  }

  /// Takes a token; nil if there was one, or else in how many seconds there will be.
  mutating func take(now: Double) -> Double? {
    tokens = min(burst, tokens + max(0, now - last) * rate)
    last = max(last, now)
    guard tokens >= 1 else { return (1 - tokens) / rate }
    tokens -= 1
    return nil
  }

  /// Whether nothing was taken from it lately: a new one would be the same.
  func isFull(now: Double) -> Bool { tokens + max(0, now - last) * rate >= burst }
}
