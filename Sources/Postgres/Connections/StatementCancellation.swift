internal import CPostgres
internal import Platform

/// Asks a server to give up the statement that runs on a connection (libpq, "Canceling Queries in Progress").
final class StatementCancellation: @unchecked Sendable {
  private let pointer: OpaquePointer

  /// Takes over what `PQgetCancel` made.
  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { PQfreeCancel(pointer) }

  /// Sends the request over a connection of its own, and waits until the server has taken it.
  func send() {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      // One that fails leaves the statement to its timeout.
      _ = PQcancel(pointer, message.baseAddress, Int32(message.count))
    }
  }
}

/// A reading that its task may give up: the server is told so while a statement of it runs, and not before or after.
final class AbandonedReading: Sendable {
  private enum State {
    case idle
    case running(StatementCancellation?)
    /// Given up; the shot comes once the server has heard of it.
    case abandoned(OneShot<Void>?)
  }

  private let state = Locked(State.idle)

  /// Statements run from now on; false if it was given up before.
  func begin(_ cancellation: StatementCancellation?) -> Bool {
    state.withLock { state in
      guard case .idle = state else { return false }
      state = .running(cancellation)
      return true
    }
  }

  /// No statement runs any longer.
  func end() {
    state.withLock { state in
      if case .running = state { state = .idle }
    }
  }

  /// Gives it up. The request to the server blocks, and goes out on a thread of its own.
  func abandon() {
    state.withLock { state in
      guard case .running(let cancellation?) = state else {
        if case .abandoned = state { return }
        state = .abandoned(nil)
        return
      }
      let sent = OneShot<Void>()
      state = .abandoned(sent)
      do {
        try NamedThread(name: "postgres-cancel") {
          cancellation.send()
          sent.fulfil(())
        }.detach()
      } catch {
        sent.fulfil(())
      }
    }
  }

  /// Waits until no request is on its way: it would meet the next statement of the connection.
  func settle() async {
    let sent: OneShot<Void>? = state.withLock { state in
      if case .abandoned(let sent) = state { return sent }
      return nil
    }
    await sent?.value
  }
}
