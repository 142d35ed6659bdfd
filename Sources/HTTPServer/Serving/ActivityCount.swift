internal import Platform

/// How many things are under way, and who waits for there to be none.
final class ActivityCount: Sendable {
  private struct Shared {
    var count = 0
    var waiters: [AsyncStream<Never>.Continuation] = []
  }

  private let shared = Locked(Shared())

  var count: Int { shared.withLock(\.count) }

  func begin() { shared.withLock { $0.count += 1 } }

  func end() {
    shared.withLock { shared in
      shared.count -= 1
      guard shared.count == 0 else { return }
      for waiter in shared.waiters { waiter.finish() }
      shared.waiters = []
    }
  }

  /// Waits until nothing is under way, or until the task is cancelled.
  func waitUntilNone() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    shared.withLock { shared in
      if shared.count == 0 { continuation.finish() } else { shared.waiters.append(continuation) }
    }
    for await _ in stream {}
  }
}
