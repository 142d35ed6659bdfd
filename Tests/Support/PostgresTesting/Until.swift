import Glibc
import Platform

/// Waits until a condition holds that nothing announces.
///
/// It asks again after pauses that grow from 2 to 64 milliseconds: a test that asks without a pause takes the processors from what it
/// waits for, and from other tests.
package func until(
  isolation: isolated (any Actor)? = #isolation, _ isTrue: () async throws -> Bool
) async rethrows {
  var milliseconds: Int32 = 2
  while try await !isTrue() {
    let pause = milliseconds
    try? await onThread("until") { _ = poll(nil, 0, pause) }
    milliseconds = min(2 * milliseconds, 64)
  }
}
