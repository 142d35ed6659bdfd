internal import Platform

/// What other threads tell a network thread, and what it waits with: which of its connections have something to do.
final class Mailbox: Sendable {
  private struct Letters {
    var connections: [UInt64] = []
    var isClosing = false
    var isEnding = false
  }

  private let letters = Locked(Letters())
  private let event: Event

  init() throws(SystemError) { event = try Event() }

  /// The descriptor that is readable while something is in it.
  var number: Int32 { event.number }

  /// Has a connection looked at again.
  func wake(_ connection: UInt64) { put { $0.connections.append(connection) } }

  /// Has the thread accept no further connection and close those that are idle.
  func close() { put { $0.isClosing = true } }

  /// Has the thread close its connections and end.
  func end() { put { $0.isEnding = true } }

  /// What came since it was last emptied.
  func empty() -> (connections: [UInt64], isClosing: Bool, isEnding: Bool) {
    event.clear()
    return letters.withLock { letters in
      defer { letters.connections = [] }
      return (letters.connections, letters.isClosing, letters.isEnding)
    }
  }

  private func put(_ change: (inout Letters) -> Void) {
    letters.withLock { change(&$0) }
    event.signal()
  }
}

/// Wakes a connection that waits, from any thread and as often as one likes; of one that is over nothing happens.
struct Waker: Sendable {
  let mailbox: Mailbox
  let connection: UInt64

  func wake() { mailbox.wake(connection) }
}
