internal import Platform

/// Who waits for changes of what, by a key such as the id of a job, and which keys have changed.
///
/// Notifications of changes may be lost, which only causes a delay: every two seconds each key with subscribers counts as
/// changed.
package final class Subscriptions<Key: Hashable & Sendable, Subscriber: Sendable>: Sendable {
  private struct State {
    var subscribers: [Key: [Int: Subscriber]] = [:]
    var changed: Set<Key> = []
    var next = 0
  }

  private let pollInterval: Duration
  private let state = Locked(State())
  private let wake = WakeUp()

  package init(pollInterval: Duration = .seconds(2)) { self.pollInterval = pollInterval }

  /// Adds a subscriber until the subscription is cancelled.
  package func add(_ subscriber: Subscriber, to key: Key) -> StreamSubscription {
    let number = state.withLock { state in
      state.next += 1
      state.subscribers[key, default: [:]][state.next] = subscriber
      return state.next
    }
    return StreamSubscription { [weak self] in
      self?.state.withLock { state in
        state.subscribers[key]?[number] = nil
        if state.subscribers[key]?.isEmpty == true { state.subscribers[key] = nil }
      }
    }
  }

  /// The subscribers of a key.
  package func subscribers(of key: Key) -> [Subscriber] {
    state.withLock { state in state.subscribers[key].map { Array($0.values) } ?? [] }
  }

  /// Reports a change of a key; one without subscribers is ignored.
  package func reportChange(of key: Key) {
    let hasSubscribers = state.withLock { state in
      guard state.subscribers[key] != nil else { return false }
      state.changed.insert(key)
      return true
    }
    if hasSubscribers { wake.raise() }
  }

  /// Reports a change of each key with subscribers, because notifications may have been missed.
  package func reportChanges() {
    state.withLock { state in state.changed = Set(state.subscribers.keys) }
    wake.raise()
  }

  /// Calls `handle` with the keys that have changed, at least one, until the task is cancelled.
  package func run(_ handle: ([Key]) async -> Void) async {
    let clock = ContinuousClock()
    var nextPoll = clock.now + pollInterval
    while !Task.isCancelled {
      await withTaskCancellationHandler {
        await wake.wait(atMost: max(.zero, clock.now.duration(to: nextPoll)))
      } onCancel: {
        wake.raise()
      }
      // Frequent notifications must not delay polling, which finds the changes without a notification.
      let isPoll = clock.now >= nextPoll
      if isPoll { nextPoll = clock.now + pollInterval }
      let keys = state.withLock { state in
        defer { state.changed = [] }
        return isPoll ? Array(state.subscribers.keys) : Array(state.changed)
      }
      if !keys.isEmpty { await handle(keys) }
    }
  }
}
