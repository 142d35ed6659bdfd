/// Runs work that blocks on a thread of its own, and waits for it without holding a thread of Swift's shared pool.
///
/// - Parameter name: of the thread, at most 15 bytes.
package func onThread<Success: Sendable>(
  _ name: String, _ work: @escaping @Sendable () throws -> Success
) async throws -> Success {
  try await withCheckedThrowingContinuation { continuation in
    do {
      try NamedThread(name: name) { continuation.resume(with: Result { try work() }) }.detach()
    } catch {
      continuation.resume(throwing: error)
    }
  }
}
