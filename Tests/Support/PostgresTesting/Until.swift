import Glibc
import Platform

/// Waits until a condition holds that nothing announces.
///
/// It asks every few milliseconds: a test that asks without a pause takes the processors from what it waits for, and from other tests.
package func until(
  isolation: isolated (any Actor)? = #isolation, _ isTrue: () async throws -> Bool
) async rethrows {
  while try await !isTrue() { try? await onThread("until") { _ = poll(nil, 0, 4) } }
}
