import Glibc
import Platform

/// Waits until a condition holds that nothing announces, for as long as a `Deadline` permits.
///
/// It asks again after pauses that grow from 2 to 64 milliseconds: a test that asks without a pause takes the processors from what it
/// waits for, and from other tests.
package func until(
  _ awaited: String? = nil, within time: Duration = Deadline.usual, file: String = #filePath, line: Int = #line,
  isolation: isolated (any Actor)? = #isolation, _ isTrue: () async throws -> Bool
) async throws {
  let deadline = Deadline(awaited, within: time, file: file, line: line)
  var milliseconds: Int32 = 2
  while try await !isTrue() {
    try deadline.check()
    let pause = milliseconds
    try? await onThread("until") { _ = poll(nil, 0, pause) }
    milliseconds = min(2 * milliseconds, 64)
  }
}
