internal import Platform

/// A check that requests at the same time share: a thousand of them cost one check after the other.
final class SharedCheck: Sendable {
  private let running = Locked<Task<Void, any Error>?>(nil)

  /// Starts the check, or waits for the one that runs.
  func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
    let task = running.withLock { running in
      if let running { return running }
      let task = Task {
        defer { self.running.withLock { $0 = nil } }
        try await check()
      }
      running = task
      return task
    }
    try await task.value
  }
}
