internal import CPostgres
import Glibc
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

/// A use of a connection whose task may be cancelled: cancel requests are sent only while it runs.
final class CancellableUse: Sendable {
  private enum State {
    case idle
    case running(StatementCancellation?)
    /// The value is fulfilled once the cancel request that is being sent was sent; nil: none is.
    case cancelled(OneShot<Void>?, isEnded: Bool)
  }

  /// The pause between two cancel requests, in microseconds.
  private static let pause: UInt32 = 100_000

  private let state = Locked(State.idle)

  /// Marks the start of the statements; false if the use was cancelled before.
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
      switch state {
      case .running: state = .idle
      case .cancelled(let sending, _): state = .cancelled(sending, isEnded: true)
      case .idle: break
      }
    }
  }

  /// Cancels the statement that runs, and each one that follows. A cancel request blocks, so it is sent on a thread of its own.
  func cancel() {
    let running = state.withLock { state -> (StatementCancellation, OneShot<Void>)? in
      guard case .running(let cancellation?) = state else {
        if case .cancelled = state { return nil }
        state = .cancelled(nil, isEnded: false)
        return nil
      }
      let sending = OneShot<Void>()
      state = .cancelled(sending, isEnded: false)
      return (cancellation, sending)
    }
    guard let (cancellation, first) = running else { return }
    do {
      try NamedThread(name: "postgres-cancel") { [self] in
        var next: OneShot<Void>? = first
        // One that arrives between two statements has no effect on the second.
        while let sending = next {
          cancellation.send()
          finish(sending)
          usleep(Self.pause)
          next = beginRequest()
        }
      }.detach()
    } catch {
      finish(first)
    }
  }

  /// Marks the start of a further cancel request; nil if the statements have ended.
  private func beginRequest() -> OneShot<Void>? {
    state.withLock { state in
      guard case .cancelled(_, isEnded: false) = state else { return nil }
      let sending = OneShot<Void>()
      state = .cancelled(sending, isEnded: false)
      return sending
    }
  }

  private func finish(_ sending: OneShot<Void>) {
    state.withLock { state in
      if case .cancelled(_, let isEnded) = state { state = .cancelled(nil, isEnded: isEnded) }
    }
    sending.fulfil(())
  }

  /// Waits for a pending cancel request, which would otherwise cancel the next statement of the connection.
  func waitForRequest() async {
    let sending: OneShot<Void>? = state.withLock { state in
      if case .cancelled(let sending, _) = state { return sending }
      return nil
    }
    await sending?.value
  }
}
