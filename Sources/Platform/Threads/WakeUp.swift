/// Something that may be worth a look: a loop waits for it, anything may raise it, and raising it early is not lost.
package final class WakeUp: Sendable {
  private struct State {
    var isRaised = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  package init() {}

  /// Lets the waiting loop go on, now or when it waits next.
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

  /// Waits until it is raised, or until `limit` passes; one loop at a time may wait.
  package func wait(atMost limit: Duration) async {
    let timer = Task {
      try? await Task.sleep(for: limit)
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
