import Platform

/// A clock that stands still until the test turns it.
package final class TestClock: Clock, Sendable {
  package typealias Instant = ContinuousClock.Instant

  private struct Sleeper {
    let number: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Observer {
    let count: Int
    let pause: Duration?
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = ContinuousClock.now
    var numbers = 0
    var sleepers: [Sleeper] = []
    var observers: [Observer] = []

    /// Whether this number of tasks sleep, each for this time from now if one is given.
    func sleeps(_ count: Int, _ pause: Duration?) -> Bool {
      sleepers.count { pause == nil || now.duration(to: $0.deadline) == pause } >= count
    }
  }

  private let state = Locked(State())

  package init() {}

  package var now: Instant { state.withLock { $0.now } }

  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeper = Sleeper(number: number, deadline: deadline, continuation: continuation)
        let observers = state.withLock { state -> [Observer]? in
          guard !Task.isCancelled, deadline > state.now else { return nil }
          state.sleepers.append(sleeper)
          let satisfied = state.observers.filter { state.sleeps($0.count, $0.pause) }
          state.observers = state.observers.filter { !state.sleeps($0.count, $0.pause) }
          return satisfied
        }
        for observer in observers ?? [] { observer.continuation.resume() }
        guard observers == nil else { return }
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          continuation.resume()
        }
      }
    } onCancel: {
      let cancelled = state.withLock { state in
        state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
      }
      cancelled?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Waits until this number of tasks sleep, each for this time from now if one is given.
  package func sleepers(_ count: Int = 1, for pause: Duration? = nil) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        guard !state.sleeps(count, pause) else { return true }
        state.observers.append(Observer(count: count, pause: pause, continuation: continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  /// Turns the clock, and wakes the tasks whose time has come.
  package func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += duration
      let now = state.now
      defer { state.sleepers.removeAll { $0.deadline <= now } }
      return state.sleepers.filter { $0.deadline <= now }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Turns the clock from one sleeper to the next until the condition holds.
  package func turn(until isDone: @Sendable () -> Bool) async {
    while !isDone() {
      let pause = state.withLock { state in
        let now = state.now
        return state.sleepers.map { now.duration(to: $0.deadline) }.min()
      }
      if let pause { advance(by: pause) }
      await Task.yield()
    }
  }
}
