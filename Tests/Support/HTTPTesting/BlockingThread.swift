internal import Platform

/// Runs blocking work on a thread of its own and waits for it without holding a thread of Swift's pool, which the server
/// under test needs.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    do {
      try NamedThread(name: "test-client") { continuation.resume(with: Result(catching: body)) }.detach()
    } catch {
      continuation.resume(throwing: error)
    }
  }
}
