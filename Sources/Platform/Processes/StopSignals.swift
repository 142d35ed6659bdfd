import Dispatch
import Glibc

/// The wish of an operator or of the system that the process should end: SIGINT or SIGTERM.
package final class StopSignals: @unchecked Sendable {
  /// The signals as they arrive; the first asks for an orderly end.
  package let arrivals: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  /// From now on the two signals are told here and do nothing else.
  package init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    arrivals = stream
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      return source(of: number, telling: continuation)
    }
  }
}

// At file scope: a closure written elsewhere may inherit an actor's isolation and trap on Dispatch's thread.
private func source(
  of number: Int32, telling continuation: AsyncStream<Int32>.Continuation
) -> any DispatchSourceSignal {
  let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
  source.setEventHandler { @Sendable in continuation.yield(number) }
  source.activate()
  return source
}
