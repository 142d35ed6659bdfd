/// A value that one task waits for and anybody brings; the first that comes counts.
package final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, Never>)
    case full(Value)
    case taken
  }

  private let state = Locked(State.empty)

  package init() {}

  /// Brings the value; later ones are left aside.
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

  /// The value, once; it is waited for.
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
