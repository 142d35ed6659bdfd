import Model
import Platform
import Postgres
import Queue

/// Looks at jobs whenever the database tells of a change, and now and then in case that was not heard.
struct JobWatching: Sendable {
  /// However much is told, no more looks than these.
  private static let pause = Duration.milliseconds(100)

  let filter: JobFilter
  let interval: Duration
  let database: DatabaseAccess
  let view: JobView

  private final class Heard: Sendable {
    let wake = WakeUp()
    let changed = Locked<Set<PublicID>>([])
    let isStopped = CancellationFlag()
  }

  /// Shows what changes until the job that is named is over, or until the signal.
  func run(until signals: StopSignals) async throws -> ExitStatus {
    let heard = Heard()
    let listener = try Listener(database.url, channels: [QueueChannel.changes, QueueChannel.jobs]) { report in
      if case .notification(let notification) = report, let job = PublicID(notification.payload) {
        heard.changed.withLock { _ = $0.insert(job) }
      }
      heard.wake.raise()
    }
    try listener?.start()
    let stopping = Task {
      await signals.wait()
      heard.isStopped.cancel()
      heard.wake.raise()
    }
    let outcome: Result<ExitStatus, any Error>
    do { outcome = .success(try await look(heard)) } catch { outcome = .failure(error) }
    stopping.cancel()
    try await onThread("listener-stop") { listener?.stop() }
    return try outcome.get()
  }

  private func look(_ heard: Heard) async throws -> ExitStatus {
    let named = filter.ids.first
    while !heard.isStopped.isCancelled {
      let changed = heard.changed.withLock { ids in
        defer { ids = [] }
        return Array(ids)
      }
      let (depths, jobs) = try await database.pool.run { [filter] session in
        var jobs = try JobQueue.list(filter, session)
        var others = filter
        others.ids = changed.filter { id in !jobs.contains { $0.publicID == id } }
        // Older than the list reaches, but something has happened to them.
        if named == nil, !others.ids.isEmpty { jobs += try JobQueue.list(others, session) }
        return (named == nil ? try JobQueue.depths(session) : [], jobs)
      }
      try view.show(jobs, depths, most: filter.limit)
      if let named {
        guard let job = jobs.first else { throw Subcommand.noJob(named) }
        if job.state.isFinal { return job.state == .completed && !job.isRejected ? .done : .rejected }
      }
      if Console.isClosed { throw CommandFailure.closedOutput }
      try? await Task.sleep(for: Self.pause)
      await heard.wake.wait(atMost: interval)
    }
    return named == nil ? .done : .interrupted
  }
}
