import Platform
import Queue

/// Admits either several attempts at the same time or one isolated attempt, in the order of arrival.
///
/// A job whose media broke a media process, or that was lost with its worker twice, runs isolated: then the cause of another
/// crash is known, and no other job is affected.
final class Isolation: Sendable {
  private struct Waiter {
    let number: Int
    let isAlone: Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var running = 0
    /// Whether the running attempt is isolated.
    var isExclusive = false
    var waiters: [Waiter] = []
    var numbers = 0

    /// Whether an attempt may start now.
    func admits(isAlone: Bool) -> Bool { !isExclusive && (!isAlone || running == 0) }

    mutating func start(isAlone: Bool) {
      running += 1
      isExclusive = isAlone
    }

    /// Removes the first waiters that may start now, and returns them.
    mutating func admitNext() -> [Waiter] {
      var next: [Waiter] = []
      while let first = waiters.first, admits(isAlone: first.isAlone) {
        start(isAlone: first.isAlone)
        next.append(waiters.removeFirst())
      }
      return next
    }
  }

  private let state = Locked(State())

  /// Whether an isolated attempt runs or waits, so that a further attempt would wait.
  var isReserved: Bool { state.withLock { $0.isExclusive || $0.waiters.contains(where: \.isAlone) } }

  /// Waits until the attempt may start; false if that takes longer than `limit`. After true the caller must call
  /// `leave()`.
  func enter(
    alone isAlone: Bool, within limit: Duration, by clock: any WorkerClock = ContinuousClock()
  ) async -> Bool {
    let number = state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    return await withCheckedContinuation { continuation in
      let mayStart = state.withLock { state in
        guard state.waiters.isEmpty, state.admits(isAlone: isAlone) else {
          state.waiters.append(Waiter(number: number, isAlone: isAlone, continuation: continuation))
          return false
        }
        state.start(isAlone: isAlone)
        return true
      }
      if mayStart { return continuation.resume(returning: true) }
      // Only now: what it is to end waits.
      timer = Task {
        try? await clock.sleep(for: limit)
        if !Task.isCancelled { giveUp(number) }
      }
    }
  }

  /// Ends an attempt that was admitted.
  func leave() {
    let next = state.withLock { state in
      state.running -= 1
      state.isExclusive = false
      return state.admitNext()
    }
    for waiter in next { waiter.continuation.resume(returning: true) }
  }

  private func giveUp(_ number: Int) {
    let (late, next) = state.withLock { state -> (Waiter?, [Waiter]) in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return (nil, []) }
      return (state.waiters.remove(at: index), state.admitNext())
    }
    late?.continuation.resume(returning: false)
    for waiter in next { waiter.continuation.resume(returning: true) }
  }
}
