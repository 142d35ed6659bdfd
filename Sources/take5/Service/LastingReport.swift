/// When a process reports a state that lasts, such as a wait: at its beginning, then seldom.
struct LastingReport {
  /// The time between two reports.
  static let interval = Duration.seconds(300)

  private var last: ContinuousClock.Instant?

  /// Whether the state was reported, so that its end has to be.
  var hasBegun: Bool { last != nil }

  /// Whether the state, which lasts at this time, is reported now.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    if let last, now - last < Self.interval { return false }
    last = now
    return true
  }

  /// Notes the end of the state; returns whether it is reported.
  mutating func end() -> Bool {
    defer { last = nil }
    return hasBegun
  }
}
