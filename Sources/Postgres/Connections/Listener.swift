import Glibc
package import Platform

/// Receives notifications on a connection and a thread of its own, and reconnects after every loss, also a silent one: a load
/// balancer may keep its side of a connection whose server is gone.
///
/// It needs a connection that bypasses a pooler in transaction mode, which does not support LISTEN.
package final class Listener: Sendable {
  /// An event of the listener.
  package enum Report: Sendable, Hashable {
    /// The listener has connected: earlier notifications were missed, so the receiver must read the tables once.
    case connected
    case notification(Notification)
    /// The connection was lost; the listener reconnects.
    case disconnected(PostgresError)
  }

  private let url: DatabaseURL
  private let channels: [String]
  private let report: @Sendable (Report) -> Void
  private let interval: Duration
  private let limit: Duration
  private let stopping = CancellationFlag()
  private let woken: Event
  private let ended: Event

  /// Creates a listener, which `start()` starts; nil if the database cannot be reached without a pooler in transaction
  /// mode: the caller then has to poll.
  ///
  /// - Parameters:
  ///   - database: reached at its `listenerURL`.
  ///   - channels: the names of the channels; they are quoted.
  ///   - interval: the time after which the server is asked whether it is there.
  ///   - limit: the time in which it answers.
  ///   - report: called on the listener's thread, one report at a time; it must not block.
  package init?(
    _ database: DatabaseURL, channels: [String], interval: Duration = .seconds(10), limit: Duration = .seconds(5),
    report: @escaping @Sendable (Report) -> Void
  ) throws(SystemError) {
    guard let url = database.listenerURL else { return nil }
    self.url = url
    self.channels = channels
    self.interval = interval
    self.limit = limit
    self.report = report
    woken = try Event()
    ended = try Event()
  }

  /// Starts the thread, which runs until `stop()`.
  package func start() throws(SystemError) {
    try NamedThread(name: "postgres-listen") { self.listen() }.detach()
  }

  /// Stops the thread and waits for its end; nothing is reported afterwards. Must not be called from `report`.
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
        // `stop()` ends the wait.
        woken.wait(for: pause)
        pause = min(pause * 2, .seconds(5))
      }
    }
    ended.signal()
  }

  private func receive(_ session: Session) throws(PostgresError) {
    // Since when the server has been silent, or since when its answer has been waited for.
    var (start, isAsked) = (ContinuousClock.now, false)
    while !stopping.isCancelled {
      while let notification = try session.nextNotification() { report(.notification(notification)) }
      let now = ContinuousClock.now
      if isAsked, session.hasAnswered() {
        (start, isAsked) = (now, false)
        // Behind the answer there may be notifications.
        continue
      }
      if isAsked, now - start >= limit {
        throw PostgresError(.connectionLost, "the server gives no answer on a connection that listens")
      }
      if !isAsked, now - start >= interval {
        try session.ask()
        (start, isAsked) = (now, true)
      }
      let pause = (start + (isAsked ? limit : interval) - now).components
      var requests = [
        pollfd(fd: session.socket, events: Int16(POLLIN), revents: 0),
        pollfd(fd: woken.number, events: Int16(POLLIN), revents: 0),
      ]
      // EINTR needs no handling: the loop checks again.
      _ = poll(&requests, 2, Int32(clamping: pause.seconds * 1000 + pause.attoseconds / 1_000_000_000_000_000 + 1))
    }
  }
}

/// A message of NOTIFY.
package struct Notification: Sendable, Hashable {
  package let channel: String
  package let payload: String

  package init(channel: String, payload: String) {
    self.channel = channel
    self.payload = payload
  }
}
