/// When a process reports that it waits for its database or its blobs: at the beginning of the wait, then seldom.
struct WaitReport {
  /// The time between two reports.
  static let interval = Duration.seconds(300)

  private var last: ContinuousClock.Instant?

  /// Whether there is a wait, which its end has to be reported of.
  var isWaiting: Bool { last != nil }

  /// Whether a failed attempt at this time is reported.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    if let last, now - last < Self.interval { return false }
    last = now
    return true
  }
}
