internal import Platform
internal import Postgres

/// A check that requests at the same time share: a thousand of them cost one check after the other. It is the service's own, and takes
/// nothing of the share of the client that asks first: the others would fail with that client.
final class SharedCheck<Value: Sendable>: Sendable {
  private let running = Locked<Task<Value, any Error>?>(nil)

  /// Starts the check, or waits for the one that runs.
  func run(_ check: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = running.withLock { running in
      if let running { return running }
      let task = Task<Value, any Error> {
        defer { self.running.withLock { $0 = nil } }
        return try await PoolClient.$current.withValue(nil) { try await check() }
      }
      running = task
      return task
    }
    return try await task.value
  }
}
