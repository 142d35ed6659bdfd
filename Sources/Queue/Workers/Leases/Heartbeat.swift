import Platform
import Postgres
import Telemetry

/// Sends the worker's heartbeats, on a thread and a connection of its own: no job, however busy, delays them.
final class Heartbeat: Sendable {
  private let worker: Int64
  private let configuration: QueueWorkerConfiguration
  private let connection: Connection
  private let executor: ThreadExecutor
  private let held: HeldJobs
  private let log: Logger
  private let clock: any WorkerClock
  private let last: Locked<ContinuousClock.Instant>
  /// Called when the worker has lost its lease: it must register again, under a new id.
  private let onEviction: @Sendable () -> Void

  init(
    worker: Int64, configuration: QueueWorkerConfiguration, database: DatabaseURL, held: HeldJobs, log: Logger,
    onEviction: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.worker = worker
    self.configuration = configuration
    clock = configuration.clock
    last = Locked(configuration.clock.now)
    connection = try Connection(database, name: "heartbeat")
    executor = try ThreadExecutor(name: "heartbeat", threads: 1)
    self.held = held
    self.log = log
    self.onEviction = onEviction
  }

  deinit { executor.stop() }

  /// Whether the last heartbeat is so old that the worker may neither hold nor claim jobs.
  var isOverdue: Bool { last.withLock { $0 }.duration(to: clock.now) > configuration.selfFence }

  /// Sends heartbeats until its task is cancelled.
  func run() async {
    await withTaskExecutorPreference(executor) {
      await withTaskGroup { group in
        group.addTask { await self.sendPeriodically() }
        // Apart from the heartbeats: one that hangs in a dead connection must not delay the fence.
        group.addTask { await self.fence() }
      }
    }
  }

  private func sendPeriodically() async {
    while !Task.isCancelled {
      // The lease counts from when the server saw the heartbeat, which is never before it was sent.
      let sent = clock.now
      do {
        try await send()
        last.withLock { $0 = sent }
      } catch {
        log.warning("a heartbeat failed", ["error": "\(error)"])
      }
      try? await clock.sleep(for: configuration.heartbeatInterval)
    }
  }

  // Other workers may take the jobs once the lease is over, so nothing of this worker may run by then. A job that was
  // stopped for this reason does not resume even if a later heartbeat arrives in time: the worker gives up its id.
  private func fence() async {
    while !Task.isCancelled {
      if isOverdue {
        log.warning("no heartbeat succeeded in time: this worker stops its jobs")
        held.stopAll(.leaseLost)
        return onEviction()
      }
      try? await clock.sleep(for: configuration.heartbeatInterval / 10)
    }
  }

  private func send() async throws {
    let jobs = held.all.map { (id: $0.job.id, token: $0.job.token) }
    let recent = held.ended.figures(at: clock.now)
    let reply = try await connection.run(timeout: configuration.heartbeatInterval) { [worker] session in
      try JobQueue.heartbeat(worker: worker, holding: jobs, recent: recent, session)
    }
    for token in reply.lost { held[token]?.stop(.leaseLost) }
    for token in reply.cancelled { held[token]?.stop(.cancelled) }
    if reply.isEvicted {
      log.warning("this worker has lost its lease")
      held.stopAll(.leaseLost)
      onEviction()
    }
  }
}
