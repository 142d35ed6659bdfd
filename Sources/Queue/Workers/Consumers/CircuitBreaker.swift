/// Pauses a queue while something that every job of it needs is missing (M. Nygard, "Release It!", Circuit Breaker).
///
/// A closed breaker permits a job for each slot. The first failure opens it for a pause. Then it is half open: one job at a
/// time tries, and closes the breaker or opens it for twice the pause. The caller passes the time: the breaker has no clock.
package struct CircuitBreaker: Sendable, Hashable {
  private enum State: Hashable {
    case closed
    case open(until: Duration)
    case halfOpen
  }

  package static let firstPause = Duration.seconds(1)
  package static let maxPause = Duration.seconds(60)

  private var state = State.closed
  private var pause = firstPause

  package init() {}

  /// The number of jobs that may run at once.
  ///
  /// - Parameter time: the time since a fixed instant, by a monotonic clock.
  package mutating func permits(of slots: Int, at time: Duration) -> Int {
    if case .open(let end) = state, time >= end { state = .halfOpen }
    switch state {
    case .closed: return slots
    case .open: return 0
    case .halfOpen: return min(1, slots)
    }
  }

  /// Notes a success; returns whether it closed the breaker.
  package mutating func succeeded() -> Bool {
    // An attempt that began before the breaker opened shows nothing about the present.
    guard case .halfOpen = state else { return false }
    self = CircuitBreaker()
    return true
  }

  /// Notes a failure; returns the pause that it starts, nil if the breaker was open.
  package mutating func failed(at time: Duration) -> Duration? {
    switch state {
    case .open: return nil
    case .closed: pause = Self.firstPause
    case .halfOpen: pause = min(pause * 2, Self.maxPause)
    }
    state = .open(until: time + pause)
    return pause
  }
}
