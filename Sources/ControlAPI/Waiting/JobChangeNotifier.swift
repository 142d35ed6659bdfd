internal import Model
package import Platform
package import Postgres
internal import Queue

/// Tells any number of waiting clients of the jobs that they wait for: one connection hears of changes, and one query
/// reads all jobs that changed.
///
/// A notification that is lost, or nowhere to be heard, costs a moment: all jobs that somebody waits for are also looked
/// at every two seconds, by one query, however many wait.
package final class JobChangeNotifier: Sendable {
  typealias Subscriber = @Sendable (JobRecord) -> Void

  private struct State {
    var subscribers: [PublicID: [Int: Subscriber]] = [:]
    var changed: Set<PublicID> = []
    var next = 0
  }

  private static let poll = Duration.seconds(2)

  private let database: Pool
  private let listener: Locked<Listener?>
  private let state = Locked(State())
  private let wake = WakeUp()

  /// - Parameter url: for a connection of its own to the same database; where it leads to nothing that can be heard,
  ///   changes are found by looking.
  package init(database: Pool, url: DatabaseURL) throws(SystemError) {
    self.database = database
    listener = Locked(nil)
    let heard = try Listener(url, channels: [QueueChannel.changes]) { [weak self] report in self?.hear(report) }
    listener.withLock { $0 = heard }
    try heard?.start()
  }

  /// Tells subscribers of what was heard, until its task is cancelled.
  package func run() async {
    let clock = ContinuousClock()
    var nextLook = clock.now + Self.poll
    while !Task.isCancelled {
      await wake.wait(atMost: max(.zero, clock.now.duration(to: nextLook)))
      // However often it is woken: what nobody may have told of is looked at in its time.
      let looksAtAll = clock.now >= nextLook
      if looksAtAll { nextLook = clock.now + Self.poll }
      let jobs = state.withLock { state in
        defer { state.changed = [] }
        return looksAtAll ? Array(state.subscribers.keys) : Array(state.changed)
      }
      if !jobs.isEmpty { await tell(jobs) }
    }
    if let heard = listener.withLock({ $0.take() }) { try? await onThread("listener-stop") { heard.stop() } }
  }

  /// Calls `subscriber` whenever a job has changed, until the subscription is cancelled; it must not block.
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

  /// Waits until a job is over, or until the time is; the job as it is then, nil if there is none.
  func end(of job: PublicID, within limit: Duration) async throws -> JobRecord? {
    let over = OneShot<JobRecord?>()
    let subscription = subscribe(to: job) { record in if record.state.isFinal { over.fulfil(record) } }
    defer { subscription.cancel() }
    // After subscribing: what ends in between is told twice, and never missed.
    let now = try await database.run { try JobQueue.find(job, $0) }
    guard let now, !now.state.isFinal else { return now }
    let timer = Task {
      try? await Task.sleep(for: limit)
      over.fulfil(nil)
    }
    let ended = await withTaskCancellationHandler {
      await over.value
    } onCancel: {
      over.fulfil(nil)
    }
    timer.cancel()
    if let ended { return ended }
    return try await database.run { try JobQueue.find(job, $0) }
  }

  private func hear(_ report: Listener.Report) {
    switch report {
    case .notification(let notification):
      guard let job = PublicID(notification.payload) else { return }
      let isWanted = state.withLock { state in
        guard state.subscribers[job] != nil else { return false }
        state.changed.insert(job)
        return true
      }
      if isWanted { wake.raise() }
    case .connected:
      state.withLock { state in state.changed = Set(state.subscribers.keys) }
      wake.raise()
    case .disconnected: break
    }
  }

  private func tell(_ jobs: [PublicID]) async {
    // A database that is away is asked again with the next look.
    guard let records = try? await database.run({ try JobQueue.find(jobs, $0) }) else { return }
    for record in records {
      let subscribers = state.withLock { state in state.subscribers[record.publicID].map { Array($0.values) } ?? [] }
      for subscriber in subscribers { subscriber(record) }
    }
  }
}
