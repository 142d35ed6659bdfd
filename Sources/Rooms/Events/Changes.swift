package import Kit
package import Platform
package import Postgres
internal import Queue
internal import Store
package import Telemetry

/// What clients wait for: changes of jobs, and events of users. One listening connection of the process receives the
/// notifications for all of them.
///
/// Notifications only shorten the wait. Each of the parts also polls, which covers lost ones, and databases where `LISTEN`
/// is not possible, such as behind a transaction pooler.
package final class Changes: Sendable {
  let jobs: JobChangeNotifier
  let events: UserEventNotifier
  /// The open streams, which end with the credentials of their clients.
  let streams: OpenStreams
  private let database: Pool
  /// Raised when the listening connection is there: the server may have been started, or be another one.
  private let connected: WakeUp
  private let listener: Locked<Listener?>

  /// - Parameter url: the database of the listening connection.
  package init(
    database: Pool, url: DatabaseURL, access: AccessControl,
    userStreams: Int = OpenStreams.userStreams, log: Logger, metrics: Metrics
  ) throws(SystemError) {
    let jobs = JobChangeNotifier(database: database, log: log)
    let events = UserEventNotifier(database: database, log: log)
    let connected = WakeUp()
    self.jobs = jobs
    self.events = events
    self.database = database
    self.connected = connected
    streams = OpenStreams(database: database, access: access, share: userStreams)
    let channels = [QueueChannel.changes, Store.eventChannel, Window.channel]
    let session = ListeningSession(of: "service", log, metrics)
    let started = try Listener(url, channels: channels) { report in
      session.note(report)
      switch report {
      case .notification(let notification) where notification.channel == QueueChannel.changes:
        jobs.receive(notification.payload)
      case .notification(let notification) where notification.channel == Store.eventChannel:
        events.receive(notification.payload)
      case .notification, .connected:
        if case .connected = report {
          connected.raise()
          jobs.readAll()
        }
        events.readAll()
      case .disconnected: break
      }
    }
    listener = Locked(started)
    try started?.start()
  }

  /// Notifies clients until the task is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.jobs.run() }
      group.addTask { await self.events.run() }
      group.addTask { await self.streams.run() }
      group.addTask { await self.findHistories() }
    }
    if let listener = listener.withLock({ $0.take() }) {
      try? await onThread("listener-stop") { listener.stop() }
    }
  }

  /// Compares the history of the database at the start and after each connection, so that no transaction of a request does so while it has
  /// locks. Where this fails, or nothing listens, the next number has it compared.
  private func findHistories() async {
    while !Task.isCancelled {
      try? await Events.findHistory(in: database)
      await withTaskCancellationHandler {
        await connected.wait(atMost: .seconds(3600))
      } onCancel: {
        connected.raise()
      }
    }
  }
}
