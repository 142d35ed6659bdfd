import Glibc
package import Platform

/// Hears notifications on a connection and a thread of its own, and comes back by itself after every loss.
///
/// It needs a direct connection: behind a pooler that lends connections per transaction LISTEN hears nothing.
package final class Listener: Sendable {
  /// What it reports.
  package enum Report: Sendable, Hashable {
    /// It listens (again): whatever was said before now was missed, so look at the tables once.
    case connected
    /// Somebody said something.
    case notification(Notification)
    /// The connection is gone; it is being made anew.
    case disconnected(PostgresError)
  }

  private let url: DatabaseURL
  private let channels: [String]
  private let report: @Sendable (Report) -> Void
  private let stopping = CancellationFlag()
  private let woken: Event
  private let ended: Event

  /// Prepares to listen; `start()` begins. Nil where nothing can be heard: the caller has to look by itself.
  ///
  /// - Parameters:
  ///   - database: it is reached past a pooler, where that was said.
  ///   - channels: names of channels, taken literally.
  ///   - report: called on the listener's thread, one report at a time; it must not block.
  package init?(
    _ database: DatabaseURL, channels: [String], report: @escaping @Sendable (Report) -> Void
  ) throws(SystemError) {
    guard let url = database.listening else { return nil }
    self.url = url
    self.channels = channels
    self.report = report
    woken = try Event()
    ended = try Event()
  }

  /// Starts the thread, which lives until `stop()`.
  package func start() throws(SystemError) {
    try NamedThread(name: "postgres-listen") { self.listen() }.detach()
  }

  /// Ends a started thread and waits for it; nothing is reported afterwards. Not to be called from `report`.
  package func stop() {
    stopping.cancel()
    woken.signal()
    ended.wait()
  }

  private func listen() {
    var pause = Duration.milliseconds(20)
    while !stopping.isCancelled {
      do {
        let session = try Session(url)
        for channel in channels { try session.listen(to: channel) }
        pause = .milliseconds(20)
        report(.connected)
        try receive(session)
      } catch {
        report(.disconnected(error))
        // Returns at once when the listener is stopped.
        woken.wait(for: pause)
        pause = min(pause * 2, .seconds(5))
      }
    }
    ended.signal()
  }

  private func receive(_ session: Session) throws(PostgresError) {
    while !stopping.isCancelled {
      while let notification = try session.nextNotification() { report(.notification(notification)) }
      var requests = [
        pollfd(fd: session.socket, events: Int16(POLLIN), revents: 0),
        pollfd(fd: woken.number, events: Int16(POLLIN), revents: 0),
      ]
      // Interrupted or not: the loop looks again.
      _ = poll(&requests, 2, -1)
    }
  }
}
