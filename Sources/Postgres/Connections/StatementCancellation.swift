internal import CPostgres
internal import Platform

/// Cancels the statement that runs on a connection (libpq, "Canceling Queries in Progress").
final class StatementCancellation: @unchecked Sendable {
  private let pointer: OpaquePointer

  /// Takes ownership of a `PGcancel`.
  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { PQfreeCancel(pointer) }

  /// Sends the cancel request over a connection of its own, and waits until the server has received it.
  func send() {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      // If this fails, the statement runs until its timeout.
      _ = PQcancel(pointer, message.baseAddress, Int32(message.count))
    }
  }
}

/// A read whose task may be cancelled: a cancel request is sent only while a statement of the read runs.
final class CancellableRead: Sendable {
  private enum State {
    case idle
    case running(StatementCancellation?)
    /// The value is fulfilled once the cancel request was sent; nil: none was needed.
    case cancelled(OneShot<Void>?)
  }

  private let state = Locked(State.idle)

  /// Marks the start of the statements; false if the read was cancelled before.
  func begin(_ cancellation: StatementCancellation?) -> Bool {
    state.withLock { state in
      guard case .idle = state else { return false }
      state = .running(cancellation)
      return true
    }
  }

  /// Marks the end of the statements.
  func end() {
    state.withLock { state in
      if case .running = state { state = .idle }
    }
  }

  /// Cancels the read; the cancel request blocks, so it is sent on a thread of its own.
  func cancel() {
    state.withLock { state in
      guard case .running(let cancellation?) = state else {
        if case .cancelled = state { return }
        state = .cancelled(nil)
        return
      }
      let sent = OneShot<Void>()
      state = .cancelled(sent)
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

  /// Waits for a pending cancel request, which would otherwise cancel the next statement of the connection.
  func waitForRequest() async {
    let sent: OneShot<Void>? = state.withLock { state in
      if case .cancelled(let sent) = state { return sent }
      return nil
    }
    await sent?.value
  }
}
