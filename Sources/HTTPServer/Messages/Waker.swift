internal import Platform

/// The requests of other threads to a network thread: which of its connections to wake, and when to close.
final class Mailbox: Sendable {
  private struct Content {
    var connections: [UInt64] = []
    var isClosing = false
    var isEnding = false
  }

  private let content = Locked(Content())
  private let event: Event

  init() throws(SystemError) { event = try Event() }

  /// The descriptor, which is readable while the mailbox is not empty.
  var number: Int32 { event.number }

  /// Wakes a connection.
  func wake(_ connection: UInt64) { put { $0.connections.append(connection) } }

  /// Makes the thread stop accepting connections and close idle ones.
  func stopAccepting() { put { $0.isClosing = true } }

  /// Makes the thread close its connections and end.
  func end() { put { $0.isEnding = true } }

  /// Returns the connections that were woken since the last call.
  func drain() -> (connections: [UInt64], isClosing: Bool, isEnding: Bool) {
    event.clear()
    return content.withLock { content in
      defer { content.connections = [] }
      return (content.connections, content.isClosing, content.isEnding)
    }
  }

  private func put(_ change: (inout Content) -> Void) {
    let isFirst = content.withLock { content in
      defer { change(&content) }
      return content.connections.isEmpty
    }
    // Behind others that are not read yet, the event is set already.
    if isFirst { event.signal() }
  }
}

/// Wakes a waiting connection from any thread; has no effect on a closed connection.
struct Waker: Sendable {
  let mailbox: Mailbox
  let connection: UInt64

  func wake() { mailbox.wake(connection) }
}
