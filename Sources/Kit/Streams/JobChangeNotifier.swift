package import Model
internal import Platform
package import Postgres
package import Queue
package import Telemetry

/// Notifies waiting clients of changes of their jobs, which go ahead. One query reads all jobs that changed.
package final class JobChangeNotifier: Sendable {
  package typealias Subscriber = @Sendable (JobRecord) -> Void

  package let headStarts: HeadStarts
  private let database: Pool
  private let log: Logger
  private let subscriptions = Subscriptions<PublicID, Subscriber>()

  package init(database: Pool, log: Logger) {
    self.database = database
    self.log = log
    headStarts = HeadStarts(database: database, log: log)
  }

  /// Notifies subscribers until the task is cancelled.
  package func run() async {
    async let ahead: Void = headStarts.run()
    await subscriptions.run(notify)
    await ahead
  }

  /// Calls `subscriber` with each change of a job until the subscription is cancelled. `subscriber` must not block.
  package func subscribe(to job: PublicID, _ subscriber: @escaping Subscriber) -> StreamSubscription {
    subscriptions.add(subscriber, to: job)
  }

  /// Waits until a job is finished or the time limit expires. Returns the job's current state; nil if it does not exist.
  package func end(of job: PublicID, within limit: Duration) async throws -> JobRecord? {
    let end = OneShot<JobRecord?>()
    let subscription = subscribe(to: job) { record in if record.state.isFinal { end.fulfil(record) } }
    defer { subscription.cancel() }
    // The job is read after subscribing: an end in between may be reported twice, but is never missed.
    let current = try await database.run { try JobQueue.find(job, $0) }
    guard let current, !current.state.isFinal else { return current }
    headStarts.ask(for: current.summary)
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

  /// Waits until `isReached`, which is asked now and after each change of a job, says so, or until the time limit expires.
  ///
  /// - Parameter isForEnd: whether it need not be asked before the job is finished.
  package func wait(
    for job: PublicID, within limit: Duration, toEnd isForEnd: Bool, until isReached: () async throws -> Bool
  ) async throws {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let subscription = subscribe(to: job) { if !isForEnd || $0.state.isFinal { continuation.yield() } }
    defer { subscription.cancel() }
    let timer = Task {
      try? await Task.sleep(for: limit)
      continuation.finish()
    }
    defer { timer.cancel() }
    // It is asked after subscribing: a change in between is never missed.
    guard try await !isReached() else { return }
    for await _ in changes where try await isReached() { return }
  }

  /// Reads a job that a notification names.
  package func receive(_ payload: String) {
    if let job = PublicID(payload) { subscriptions.reportChange(of: job) }
  }

  /// Reads all jobs that have subscribers: notifications may have been missed.
  package func readAll() { subscriptions.reportChanges() }

  private func notify(_ jobs: [PublicID]) async {
    do {
      for record in try await database.run({ try JobQueue.find(jobs, $0) }) {
        for subscriber in subscriptions.subscribers(of: record.publicID) { subscriber(record) }
      }
    } catch {
      // The next poll reads the jobs.
      if !Task.isCancelled { log.warning("changes of jobs could not be read", ["error": "\(error)"]) }
    }
  }
}
