internal import Platform

/// An answer's body that is produced over time, such as server-sent events.
///
/// A handler makes it, returns it in a `Response` and is done; from then on anybody writes to it, on any thread. While
/// nothing is to be sent it costs an open connection, but no thread and no task.
///
/// One lock guards the state and who is to be woken together: what waits and what wakes cannot pass each other, so that
/// no wake-up is lost.
package final class BodyStream: Sendable {
  /// How long a stream lives at most, whatever is asked for.
  package static let maxDeadline = Duration.seconds(3600)

  private struct Shared {
    var state: BodyStreamState
    var waker: Waker?
  }

  /// From the answer's begin to the end of the body, which is then finished in order.
  let deadline: Duration
  private let heartbeat: [UInt8]
  private let onEnd: @Sendable (BodyStream) -> Void
  private let shared: Locked<Shared>

  /// Makes a stream for one answer.
  ///
  /// - Parameters:
  ///   - deadline: how long it lives, at most `maxDeadline`.
  ///   - backlog: bytes that may wait for the client; one that lets more wait is cut off.
  ///   - heartbeat: what is written after a silence of `ServerConfiguration.heartbeat`, between two writes: only a
  ///     write finds out that a client is gone. By default an empty comment of server-sent events.
  ///   - onEnd: called exactly once, when the answer is over: the client went away, the server stops, or all was sent
  ///     after `finish()`. It is called on a thread of the server's, never from within `write` or `finish`, and must
  ///     not block.
  package init(
    deadline: Duration = maxDeadline, backlog: Int = 256 << 10, heartbeat: [UInt8] = Array(":\n\n".utf8),
    onEnd: @escaping @Sendable (BodyStream) -> Void = { _ in }
  ) {
    self.deadline = min(deadline, Self.maxDeadline)
    self.heartbeat = heartbeat
    self.onEnd = onEnd
    shared = Locked(Shared(state: BodyStreamState(maxWaiting: backlog)))
  }

  // MARK: The producer, on any thread

  /// Sends bytes, one whole event or several, without ever waiting; false when nobody will receive them any more.
  @discardableResult
  package func write(_ bytes: [UInt8]) -> Bool {
    shared.withLock { shared in
      let isTaken = shared.state.write(bytes, at: .now)
      Self.wakeIfPossible(&shared)
      return isTaken
    }
  }

  /// Ends the body after what has been written; the connection may then carry another request.
  package func finish() {
    shared.withLock { shared in
      shared.state.finish()
      Self.wakeIfPossible(&shared)
    }
  }

  // MARK: The server

  /// The answer begins.
  func open(at now: ContinuousClock.Instant) {
    shared.withLock { $0.state.open(at: now, until: now + deadline) }
  }

  /// Moves what fits into a buffer; where there is nothing, the connection is woken once there is.
  func read(into buffer: UnsafeMutableRawBufferPointer, waker: Waker) -> BodyStreamState.Step {
    shared.withLock { shared in
      let step = shared.state.read(into: buffer)
      shared.waker = step == .wait ? waker : nil
      return step
    }
  }

  /// Writes the heartbeat if the stream has been silent for so long, and finishes it at its deadline.
  func beat(at now: ContinuousClock.Instant, after silence: Duration) {
    shared.withLock { shared in
      if shared.state.beat(heartbeat, at: now, after: silence) { Self.wakeIfPossible(&shared) }
    }
  }

  /// Gives the client up: the connection is to be closed with the body unfinished.
  func cut() {
    shared.withLock { shared in
      shared.state.cut()
      Self.wakeIfPossible(&shared)
    }
  }

  /// The answer is over, or never began.
  func end() {
    let isFirst = shared.withLock { shared in
      shared.waker = nil
      return shared.state.end()
    }
    if isFirst { onEnd(self) }
  }

  /// Whether the connection is to be closed with the body unfinished.
  var isCut: Bool { shared.withLock { $0.state.isCut } }

  /// How many bytes the network took.
  var sentBytes: Int64 { shared.withLock { $0.state.sentBytes } }

  private static func wakeIfPossible(_ shared: inout Shared) {
    guard shared.state.canProceed, let waker = shared.waker else { return }
    shared.waker = nil
    waker.wake()
  }
}
