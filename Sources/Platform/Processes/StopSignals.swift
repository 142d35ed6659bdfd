import Dispatch
import Glibc
import Synchronization

/// The wish of an operator or of the system that the process should end: SIGINT or SIGTERM.
///
/// The first asks for an orderly end. The second ends the process at once: it may be killed at any time without loss.
package final class StopSignals: @unchecked Sendable {
  private let first: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// From now on the two signals are told here and do nothing else.
  package init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    first = stream
    let counter = SignalCounter()
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      return source(of: number) {
        if counter.next() == 1 { continuation.yield() } else { _exit(128 + number) }
      }
    }
  }

  /// Waits for the first; to be called once.
  package func wait() async { for await _ in first { return } }
}

/// Counts signals on Dispatch's threads.
private final class SignalCounter: Sendable {
  private let count = Atomic<Int>(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

// At file scope: a closure written elsewhere may inherit an actor's isolation and trap on Dispatch's thread.
private func source(of number: Int32, _ handle: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
  let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
  source.setEventHandler { @Sendable in handle() }
  source.activate()
  return source
}
