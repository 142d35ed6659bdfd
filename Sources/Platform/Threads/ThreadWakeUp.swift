import Glibc

/// As `WakeUp`, for a loop that has a thread of its own and blocks it: who raises it wakes the thread itself.
package final class ThreadWakeUp: Sendable {
  private let event: Event

  package init() throws(SystemError) { event = try Event() }

  /// Lets the waiting loop go on, now or when it waits next.
  package func raise() { event.signal() }

  /// Waits until it is raised, or something can be read from a descriptor, or `limit` passes; one loop at a time may wait.
  package func wait(orFor descriptor: Int32, atMost limit: Duration) {
    var requests = [
      pollfd(fd: event.number, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    // Interrupted or not: the loop looks again.
    _ = poll(&requests, 2, Int32(clamping: Int(limit / .milliseconds(1))))
    if requests[0].revents != 0 { event.clear() }
  }
}
