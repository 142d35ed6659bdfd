import Glibc
internal import Platform

/// Every open connection, when its patience ends, and what it is doing.
///
/// libmicrohttpd knows only inactivity, under which a client that sends a byte now and then lives for ever. So
/// each connection has a deadline, and `shutDownExpired` cuts what is past it. A socket's number is used under the
/// lock only, and libmicrohttpd reports a connection closed before it closes the socket: the number is never another's.
final class ConnectionRegistry: Sendable {
  private struct Entry {
    let socket: Int32
    var deadline: ContinuousClock.Instant
    var exchange: Exchange?
    var stream: BodyStream?
  }

  private struct Shared {
    var entries: [Int: Entry] = [:]
    var nextNumber = 0
    var exchanges = 0
    var idleWaiters: [AsyncStream<Never>.Continuation] = []
  }

  private let shared = Locked(Shared())

  /// A connection was accepted.
  func open(socket: Int32, until deadline: ContinuousClock.Instant) -> Int {
    shared.withLock { shared in
      let number = shared.nextNumber
      shared.nextNumber += 1
      shared.entries[number] = Entry(socket: socket, deadline: deadline)
      return number
    }
  }

  /// A connection is about to be closed.
  func close(_ number: Int) {
    shared.withLock { shared in shared.entries[number] = nil }
  }

  /// An exchange began on a connection.
  func begin(_ exchange: Exchange, on number: Int, until deadline: ContinuousClock.Instant) {
    shared.withLock { shared in
      shared.entries[number]?.exchange = exchange
      shared.entries[number]?.deadline = deadline
      shared.exchanges += 1
    }
  }

  /// The answer is on its way.
  ///
  /// - Parameter stream: what produces its body, if that takes time.
  func answering(with stream: BodyStream?, on number: Int, until deadline: ContinuousClock.Instant) {
    shared.withLock { shared in
      shared.entries[number]?.stream = stream
      shared.entries[number]?.deadline = deadline
    }
  }

  /// An exchange is over; the connection may carry another.
  ///
  /// - Parameter lingering: whether to return a second descriptor of the socket, which outlives the connection.
  func end(on number: Int, until deadline: ContinuousClock.Instant, lingering: Bool) -> Int32? {
    shared.withLock { shared in
      shared.entries[number]?.exchange = nil
      shared.entries[number]?.stream = nil
      shared.entries[number]?.deadline = deadline
      shared.exchanges -= 1
      if shared.exchanges == 0 {
        for waiter in shared.idleWaiters { waiter.finish() }
        shared.idleWaiters = []
      }
      guard lingering, let socket = shared.entries[number]?.socket else { return nil }
      let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
      return copy < 0 ? nil : copy
    }
  }

  /// The exchanges under way.
  var exchanges: [Exchange] { shared.withLock { $0.entries.values.compactMap(\.exchange) } }

  /// The bodies that are being produced.
  var streams: [BodyStream] { shared.withLock { $0.entries.values.compactMap(\.stream) } }

  /// Shuts down every connection whose deadline has passed, or whose client is too slow for its stream.
  func shutDownExpired(at now: ContinuousClock.Instant) {
    let expired = shared.withLock { shared in
      let expired = shared.entries.values.filter { $0.deadline <= now || $0.stream?.isCut == true }
      for entry in expired { shutdown(entry.socket, Int32(SHUT_RDWR)) }
      return expired
    }
    // A suspended connection does not notice its socket: it has to be resumed to end.
    for entry in expired {
      entry.exchange?.fail(.deadlineExceeded, cutting: true)
      entry.stream?.cut()
    }
  }

  /// Waits until no exchange is under way, or until the task is cancelled.
  func waitUntilIdle() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    shared.withLock { shared in
      if shared.exchanges == 0 { continuation.finish() } else { shared.idleWaiters.append(continuation) }
    }
    for await _ in stream {}
  }
}
