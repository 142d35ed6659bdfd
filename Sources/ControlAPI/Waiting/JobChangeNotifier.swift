internal import Model
internal import Platform
internal import Postgres
internal import Queue

/// Notifies waiting clients of changes of their jobs. One query reads all jobs that changed.
///
/// Lost notifications only cause a delay: every two seconds, one query reads all jobs that have subscribers.
final class JobChangeNotifier: Sendable {
  typealias Subscriber = @Sendable (JobRecord) -> Void

  private struct State {
    var subscribers: [PublicID: [Int: Subscriber]] = [:]
    var changed: Set<PublicID> = []
    var next = 0
  }

  private static let pollInterval = Duration.seconds(2)

  private let database: Pool
  private let state = Locked(State())
  private let wake = WakeUp()

  init(database: Pool) { self.database = database }

  /// Notifies subscribers until the task is cancelled.
  func run() async {
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
  }

  /// Calls `subscriber` with each change of a job until the subscription is cancelled. `subscriber` must not block.
  func subscribe(to job: PublicID, _ subscriber: @escaping Subscriber) -> StreamSubscription {
    let number = state.withLock { state in
      state.next += 1
      state.subscribers[job, default: [:]][state.next] = subscriber
      return state.next
    }
    return StreamSubscription { [weak self] in
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

  /// Reads a job that a notification names.
  func receive(_ payload: String) {
    guard let job = PublicID(payload) else { return }
    let hasSubscribers = state.withLock { state in
      guard state.subscribers[job] != nil else { return false }
      state.changed.insert(job)
      return true
    }
    if hasSubscribers { wake.raise() }
  }

  /// Reads all jobs that have subscribers: notifications may have been missed.
  func readAll() {
    state.withLock { state in state.changed = Set(state.subscribers.keys) }
    wake.raise()
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
