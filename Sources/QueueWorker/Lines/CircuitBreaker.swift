/// Keeps a worker from a queue that it cannot serve just now, because something that every job of it needs is not to be had
/// (M. Nygard, Release It!, "Circuit Breaker").
///
/// Closed, it lets through as many jobs as there are slots. The first that finds the service gone opens it: none comes
/// through for a pause. After that one job at a time tries: it closes the breaker, or opens it for a longer pause. Pure: the
/// caller has the clock.
package struct CircuitBreaker: Sendable, Hashable {
  private enum State: Hashable {
    case closed
    case open(until: Duration)
    case halfOpen
  }

  package static let firstPause = Duration.seconds(1)
  package static let longestPause = Duration.seconds(60)

  private var state = State.closed
  private var pause = firstPause

  package init() {}

  /// How many jobs may be at work at once.
  ///
  /// - Parameter time: since any moment that stays the same, by a clock that only goes forward.
  package mutating func permits(of slots: Int, at time: Duration) -> Int {
    if case .open(let end) = state, time >= end { state = .halfOpen }
    switch state {
    case .closed: return slots
    case .open: return 0
    case .halfOpen: return min(1, slots)
    }
  }

  /// An attempt found what it needs; whether that closed the breaker.
  package mutating func succeeded() -> Bool {
    // One that began before it opened tells nothing of now.
    guard case .halfOpen = state else { return false }
    self = CircuitBreaker()
    return true
  }

  /// An attempt did not find what it needs; how long nothing is tried now, nil if that was known.
  package mutating func failed(at time: Duration) -> Duration? {
    switch state {
    case .open: return nil
    case .closed: pause = Self.firstPause
    case .halfOpen: pause = min(pause * 2, Self.longestPause)
    }
    state = .open(until: time + pause)
    return pause
  }
}
