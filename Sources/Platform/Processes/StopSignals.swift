internal import CSystem
import Dispatch
import Glibc
import Synchronization

/// Handles the signals that end a process.
///
/// The first SIGINT, SIGTERM or SIGHUP asks for an orderly end. A supervisor may repeat SIGTERM, which then has no effect. A further
/// SIGINT, such as a second Ctrl-C, ends the process at once: a kill at any time loses no data.
package final class StopSignals: @unchecked Sendable {
  private let first: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let count = Atomic<Int>(0)
  private let request = Locked(Request())
  private let lastAction = Locked<(@Sendable () -> Void)?>(nil)
  private var sources: [any DispatchSourceSignal] = []

  /// Whether an orderly end was asked for, and what happens when it is.
  private struct Request {
    var isMade = false
    var action: (@Sendable () -> Void)?
  }

  /// Installs the handlers.
  ///
  /// - Parameter isService: whether the process goes on without the terminal or the session that started it: SIGHUP ends a service
  ///   only if it has a terminal, and signals that mean nothing to it are ignored.
  package init(isService: Bool = false) {
    (first, continuation) = AsyncStream.makeStream(of: Void.self)
    var numbers = [SIGINT, SIGTERM]
    if isService && !Self.hasTerminal {
      signal(SIGHUP, SIG_IGN)
    } else if csystem_is_ignored(SIGHUP) == 0 {
      // nohup(1) starts a program that ignores it.
      numbers.append(SIGHUP)
    }
    if isService { for number in Self.meaningless { signal(number, SIG_IGN) } }
    // Until Dispatch has its handler of a signal, the signal ends the process as it does by default: one that was ignored then would be
    // lost.
    let watching = DispatchGroup()
    sources = numbers.map { number in source(of: number, watching) { [self] in receive(number) } }
    watching.wait()
  }

  /// Waits for the first signal; call it once.
  package func wait() async { for await _ in first { return } }

  /// Sets what happens as soon as the first signal arrives, which may have been before; nil: nothing.
  package func onRequest(_ action: (@Sendable () -> Void)?) {
    let isMade = request.withLock { request in
      request.action = action
      return request.isMade
    }
    if isMade { action?() }
  }

  /// Asks for an orderly end, as the first signal does.
  package func requestEnd() {
    let action = request.withLock { request in
      request.isMade = true
      return request.action
    }
    continuation.yield()
    action?()
  }

  /// Sets the last action of a process that a second SIGINT ends; a third one does not wait for it.
  package func beforeEndingAtOnce(_ action: @escaping @Sendable () -> Void) { lastAction.withLock { $0 = action } }

  // Signals that end a process by default and that users of other programs know as harmless, that a timer or a limit sends, and those
  // for programs that agree on a meaning (signal(7)).
  private static let meaningless: [Int32] =
    [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ] + Array(34...64)

  /// Whether the process has a controlling terminal, whose end sends SIGHUP (tty(4)).
  private static var hasTerminal: Bool {
    let number = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    if number >= 0 { close(number) }
    return number >= 0
  }

  private func receive(_ number: Int32) {
    if count.add(1, ordering: .relaxed).newValue == 1 {
      requestEnd()
      return
    }
    guard number == SIGINT else { return }
    guard let action = lastAction.withLock({ $0.take() }) else { _exit(128 + number) }
    do throws(SystemError) {
      try NamedThread(name: "end") {
        action()
        _exit(128 + number)
      }.detach()
    } catch {
      _exit(128 + number)
    }
  }
}

// At file scope: a closure in another context may inherit an actor's isolation and trap on Dispatch's thread.
private func source(
  of number: Int32, _ watching: DispatchGroup, _ handle: @escaping @Sendable () -> Void
) -> any DispatchSourceSignal {
  let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
  source.setEventHandler { @Sendable in handle() }
  watching.enter()
  source.setRegistrationHandler { @Sendable in watching.leave() }
  source.activate()
  return source
}
