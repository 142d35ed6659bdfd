import Logging
import Platform
import Postgres
import Queue

/// The worker's signs of life, on a thread and a connection of their own: no job, however busy, may delay them.
final class Heart: Sendable {
  private let worker: Int64
  private let configuration: QueueWorkerConfiguration
  private let connection: Connection
  private let executor: ThreadExecutor
  private let held: HeldJobs
  private let log: Logger
  private let lastBeat = Locked(ContinuousClock.now)
  /// Told when the worker was taken for dead, or takes itself for dead: it has to come back under a new id.
  private let onEviction: @Sendable () -> Void

  init(
    worker: Int64, configuration: QueueWorkerConfiguration, database: DatabaseURL, held: HeldJobs, log: Logger,
    onEviction: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.worker = worker
    self.configuration = configuration
    connection = try Connection(database, name: "worker-beat")
    executor = try ThreadExecutor(name: "worker-heart")
    self.held = held
    self.log = log
    self.onEviction = onEviction
  }

  deinit { executor.stop() }

  /// Whether the last sign of life is so old that no job may be held, or taken, any more.
  var isSilent: Bool { lastBeat.withLock { $0 }.duration(to: .now) > configuration.selfFence }

  /// Beats until its task is cancelled.
  func run() async {
    await withTaskExecutorPreference(executor) {
      await withTaskGroup { group in
        group.addTask { await self.goOnBeating() }
        // Beside the beats: one that hangs in a dead connection must not keep the fence waiting.
        group.addTask { await self.fence() }
      }
    }
  }

  private func goOnBeating() async {
    while !Task.isCancelled {
      // The lease counts from when the server saw it, which is not before it was sent.
      let sent = ContinuousClock.now
      do {
        try await beat()
        lastBeat.withLock { $0 = sent }
      } catch {
        log.warning("no sign of life could be given", ["error": "\(error)"])
      }
      try? await Task.sleep(for: configuration.beatInterval)
    }
  }

  // Others may take the jobs once the lease is over: by then nothing of ours may be running. What was stopped for that
  // reason is not taken up again, not even if a beat comes through in time: so the worker gives up its id with its jobs.
  private func fence() async {
    while !Task.isCancelled {
      if isSilent {
        log.warning("no sign of life came through: this worker gives up what it holds")
        held.stopAll(.leaseLost)
        return onEviction()
      }
      try? await Task.sleep(for: configuration.beatInterval / 10)
    }
  }

  private func beat() async throws {
    let jobs = held.all.map { (id: $0.job.id, token: $0.job.token) }
    let answer = try await connection.run(patience: configuration.beatInterval) { [worker] session in
      try JobQueue.beat(worker: worker, holding: jobs, session)
    }
    for token in answer.lost { held[token]?.stop(.leaseLost) }
    for token in answer.cancelled { held[token]?.stop(.cancelled) }
    if answer.isEvicted {
      log.warning("this worker was taken for dead")
      held.stopAll(.leaseLost)
      onEviction()
    }
  }
}
