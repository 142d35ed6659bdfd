import Platform

/// Lets so many through a second, whoever asks.
final class Pace: Sendable {
  private let interval: Duration
  private let next = Locked(ContinuousClock.now)

  /// - Parameter rate: a second; nil: any number.
  init(rate: Double?) { interval = rate.map { .seconds(1 / $0) } ?? .zero }

  /// Waits for one's turn.
  func wait() async throws {
    let turn = next.withLock { next in
      let turn = max(next, .now)
      next = turn + interval
      return turn
    }
    if turn > .now { try await Task.sleep(until: turn, clock: .continuous) }
  }
}
