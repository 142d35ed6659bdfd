internal import Model
package import Platform
package import Postgres
internal import Queue

/// Notifies waiting clients of changes of their jobs. One connection receives the notifications for all clients, and one
/// query reads all jobs that changed.
///
/// Lost notifications only cause a delay: every two seconds, one query reads all jobs that have subscribers. This also
/// covers databases where `LISTEN` is not possible, such as behind a transaction pooler.
package final class JobChangeNotifier: Sendable {
  typealias Subscriber = @Sendable (JobRecord) -> Void

  private struct State {
    var subscribers: [PublicID: [Int: Subscriber]] = [:]
    var changed: Set<PublicID> = []
    var next = 0
  }

  private static let pollInterval = Duration.seconds(2)

  private let database: Pool
  private let listener: Locked<Listener?>
  private let state = Locked(State())
  private let wake = WakeUp()

  /// - Parameter url: the database of the listening connection. If it does not support `LISTEN`, changes are found by
  ///   polling.
  package init(database: Pool, url: DatabaseURL) throws(SystemError) {
    self.database = database
    listener = Locked(nil)
    let started = try Listener(url, channels: [QueueChannel.changes]) { [weak self] report in self?.receive(report) }
    listener.withLock { $0 = started }
    try started?.start()
  }

  /// Notifies subscribers until the task is cancelled.
  package func run() async {
    let clock = ContinuousClock()
    var nextPoll = clock.now + Self.pollInterval
    while !Task.isCancelled {
      await wake.wait(atMost: max(.zero, clock.now.duration(to: nextPoll)))
      // Frequent notifications must not delay polling, which finds the changes without a notification.
      let isPoll = clock.now >= nextPoll
      if isPoll { nextPoll = clock.now + Self.pollInterval }
      let jobs = state.withLock { state in
        defer { state.changed = [] }
        return isPoll ? Array(state.subscribers.keys) : Array(state.changed)
      }
      if !jobs.isEmpty { await notify(jobs) }
    }
    if let listener = listener.withLock({ $0.take() }) {
      try? await onThread("listener-stop") { listener.stop() }
    }
  }

  /// Calls `subscriber` with each change of a job until the subscription is cancelled. `subscriber` must not block.
  func subscribe(to job: PublicID, _ subscriber: @escaping Subscriber) -> JobSubscription {
    let number = state.withLock { state in
      state.next += 1
      state.subscribers[job, default: [:]][state.next] = subscriber
      return state.next
    }
    return JobSubscription { [weak self] in
      self?.state.withLock { state in
        state.subscribers[job]?[number] = nil
        if state.subscribers[job]?.isEmpty == true { state.subscribers[job] = nil }
      }
    }
  }

  /// Waits until a job is finished or the time limit expires. Returns the job's current state; nil if it does not exist.
  func end(of job: PublicID, within limit: Duration) async throws -> JobRecord? {
    let end = OneShot<JobRecord?>()
    let subscription = subscribe(to: job) { record in if record.state.isFinal { end.fulfil(record) } }
    defer { subscription.cancel() }
    // The job is read after subscribing: an end in between may be reported twice, but is never missed.
    let current = try await database.run { try JobQueue.find(job, $0) }
    guard let current, !current.state.isFinal else { return current }
    let timer = Task {
      try? await Task.sleep(for: limit)
      end.fulfil(nil)
    }
    let ended = await withTaskCancellationHandler {
      await end.value
    } onCancel: {
      end.fulfil(nil)
    }
    timer.cancel()
    if let ended { return ended }
    return try await database.run { try JobQueue.find(job, $0) }
  }

  private func receive(_ report: Listener.Report) {
    switch report {
    case .notification(let notification):
      guard let job = PublicID(notification.payload) else { return }
      let hasSubscribers = state.withLock { state in
        guard state.subscribers[job] != nil else { return false }
        state.changed.insert(job)
        return true
      }
      if hasSubscribers { wake.raise() }
    case .connected:
      state.withLock { state in state.changed = Set(state.subscribers.keys) }
      wake.raise()
    case .disconnected: break
    }
  }

  private func notify(_ jobs: [PublicID]) async {
    // If the database is unavailable, the next poll reads the jobs.
    guard let records = try? await database.run({ try JobQueue.find(jobs, $0) }) else { return }
    for record in records {
      let subscribers = state.withLock { state in state.subscribers[record.publicID].map { Array($0.values) } ?? [] }
      for subscriber in subscribers { subscriber(record) }
    }
  }
}

/// A subscription to the changes of a job.
struct JobSubscription: Sendable {
  private let onCancel: @Sendable () -> Void

  init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Cancels the subscription. A call of the subscriber that is in progress is not interrupted.
  func cancel() { onCancel() }
}
