internal import Platform

/// A response body that is produced over time, such as server-sent events.
///
/// A handler creates the stream, returns it in a `Response` and ends; from then on, any thread may write to the stream.
/// While there is nothing to send, the stream needs an open connection, but no thread and no task.
///
/// One lock guards the state and the waker together, so that no wake-up is lost between a read that finds nothing and a
/// write.
package final class BodyStream: Sendable {
  /// The maximum lifetime of a stream.
  package static let maxLifetime = Duration.seconds(3600)
  /// An empty comment of server-sent events, which clients ignore (WHATWG HTML, section 9.2.5).
  package static let emptyComment: [UInt8] = Array(":\n\n".utf8)

  private struct Shared {
    var state: BodyStreamState
    var waker: Waker?
    /// The task that waits until all bytes are sent.
    var waiter: CheckedContinuation<Bool, Never>?
  }

  /// The time from the start of the response until the server finishes the body.
  let lifetime: Duration
  private let heartbeat: [UInt8]
  private let onEnd: @Sendable (BodyStream) -> Void
  private let shared: Locked<Shared>

  /// Creates a stream for one response.
  ///
  /// - Parameters:
  ///   - lifetime: at most `maxLifetime`.
  ///   - backlog: the maximum number of unsent bytes; the server disconnects a client that lets more accumulate.
  ///   - heartbeat: bytes that are written when nothing was written for `ServerConfiguration.heartbeat`, because only a
  ///     write detects that the client has disconnected. The default is `emptyComment`.
  ///   - onEnd: called exactly once, when the response ends: the client disconnects, the server stops, or all bytes
  ///     have been sent after `finish()`. It is called on a thread of the server, never from within `write` or
  ///     `finish`, and must not block.
  package init(
    lifetime: Duration = maxLifetime, backlog: Int = 256 << 10, heartbeat: [UInt8] = emptyComment,
    onEnd: @escaping @Sendable (BodyStream) -> Void = { _ in }
  ) {
    self.lifetime = min(lifetime, Self.maxLifetime)
    self.heartbeat = heartbeat
    self.onEnd = onEnd
    shared = Locked(Shared(state: BodyStreamState(maxUnsentBytes: backlog)))
  }

  // MARK: The producer, on any thread

  /// Queues bytes, one complete event or several, without blocking; false if the stream has ended.
  @discardableResult
  package func write(_ bytes: [UInt8]) -> Bool {
    shared.withLock { shared in
      let isAccepted = shared.state.write(bytes, at: .now)
      Self.wakeIfPossible(&shared)
      return isAccepted
    }
  }

  /// Ends the body after the bytes that were written; the connection may then carry another request.
  package func finish() {
    shared.withLock { shared in
      shared.state.finish()
      Self.wakeIfPossible(&shared)
    }
  }

  /// The number of bytes that wait for the client. A producer that looks at it keeps little in memory for a slow client.
  package var unsentBytes: Int { shared.withLock { $0.state.unsent } }

  /// Waits until the client has been sent everything that was written; false if the stream has ended. One task at a time may wait.
  package func drained() async -> Bool {
    await withCheckedContinuation { continuation in
      let result: Bool? = shared.withLock { shared in
        if shared.state.hasEnded { return false }
        if shared.state.unsent == 0 { return true }
        shared.waiter = continuation
        return nil
      }
      if let result { continuation.resume(returning: result) }
    }
  }

  /// Ends the body before it is complete: the connection is closed, which the client notices.
  package func cut() {
    shared.withLock { shared in
      shared.state.cut()
      Self.wakeIfPossible(&shared)
    }
  }

  // MARK: The server

  /// Starts the lifetime, at the start of the response.
  func open(at now: ContinuousClock.Instant) {
    shared.withLock { $0.state.open(at: now, until: now + lifetime) }
  }

  /// Moves unsent bytes into a buffer; if there are none, the waker wakes the connection after the next write.
  func read(into buffer: UnsafeMutableRawBufferPointer, waker: Waker) -> BodyStreamState.Step {
    let (step, waiter) = shared.withLock { shared in
      let step = shared.state.read(into: buffer)
      shared.waker = step == .wait ? waker : nil
      // Once the network asks for more: what was sent before lies with the client or the system.
      return (step, step == .wait ? shared.waiter.take() : nil)
    }
    waiter?.resume(returning: true)
    return step
  }

  /// Writes the heartbeat if nothing was written for `silence`, and finishes the stream at the end of its lifetime.
  func sendHeartbeat(at now: ContinuousClock.Instant, after silence: Duration) {
    shared.withLock { shared in
      if shared.state.sendHeartbeat(heartbeat, at: now, after: silence) { Self.wakeIfPossible(&shared) }
    }
  }

  /// Ends the stream when its response has ended or will not be sent.
  func end() {
    let (isFirst, waiter) = shared.withLock { shared in
      shared.waker = nil
      return (shared.state.end(), shared.waiter.take())
    }
    waiter?.resume(returning: false)
    if isFirst { onEnd(self) }
  }

  /// Whether the connection must be closed before the body is complete.
  var isCut: Bool { shared.withLock { $0.state.isCut } }

  /// The number of bytes that were passed to the network.
  var sentBytes: Int64 { shared.withLock { $0.state.sentBytes } }

  private static func wakeIfPossible(_ shared: inout Shared) {
    guard shared.state.canProceed, let waker = shared.waker else { return }
    shared.waker = nil
    waker.wake()
  }
}
