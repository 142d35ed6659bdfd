/// A value that one task waits for; the first call of `fulfil` sets it.
package final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, Never>)
    case full(Value)
    case taken
  }

  private let state = Locked(State.empty)

  package init() {}

  /// Sets the value; later calls have no effect.
  package func fulfil(_ value: Value) {
    let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
      switch state {
      case .empty:
        state = .full(value)
        return nil
      case .waiting(let waiter):
        state = .taken
        return waiter
      case .full, .taken: return nil
      }
    }
    waiter?.resume(returning: value)
  }

  /// Waits for the value; read it once.
  package var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> Value? in
          if case .full(let value) = state {
            state = .taken
            return value
          }
          state = .waiting(continuation)
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    }
  }
}

/// A signal that wakes a loop; a signal that is sent before the loop waits is not lost.
package final class WakeUp: Sendable {
  private struct State {
    var isRaised = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  package init() {}

  /// Wakes the loop now, or at its next wait.
  package func raise() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter else {
        state.isRaised = true
        return nil
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume()
  }

  /// Waits until the signal is raised or `limit` passes; one task at a time may wait.
  package func wait(atMost limit: Duration, by clock: some Clock<Duration> = ContinuousClock()) async {
    let timer = Task {
      try? await clock.sleep(for: limit)
      if !Task.isCancelled { raise() }
    }
    await withCheckedContinuation { continuation in
      let isRaised = state.withLock { state in
        defer { state.isRaised = false }
        if !state.isRaised { state.waiter = continuation }
        return state.isRaised
      }
      if isRaised { continuation.resume() }
    }
    timer.cancel()
  }
}
