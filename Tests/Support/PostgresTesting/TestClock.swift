import Platform
import WaitTesting

/// A clock that stands still until the test turns it.
package final class TestClock: Clock, Sendable {
  package typealias Instant = ContinuousClock.Instant

  private struct Sleeper {
    let number: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = ContinuousClock.now
    var numbers = 0
    var sleepers: [Sleeper] = []

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
        let isAsleep = state.withLock { state in
          guard !Task.isCancelled, deadline > state.now else { return false }
          state.sleepers.append(sleeper)
          return true
        }
        guard !isAsleep else { return }
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
  package func sleepers(
    _ count: Int = 1, for pause: Duration? = nil, file: String = #filePath, line: Int = #line
  ) async throws {
    try await until(file: file, line: line) { state.withLock { $0.sleeps(count, pause) } }
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
  package func turn(until isDone: @Sendable () -> Bool) async throws {
    let deadline = Deadline("a condition to which a clock is turned")
    while !isDone() {
      try deadline.check()
      let pause = state.withLock { state in
        let now = state.now
        return state.sleepers.map { now.duration(to: $0.deadline) }.min()
      }
      if let pause { advance(by: pause) }
      await Task.yield()
    }
  }
}
