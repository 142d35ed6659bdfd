import Logging
import Model
import Platform
package import Postgres
import Queue

/// Work that every worker repeats in addition to its jobs.
package struct MaintenanceTask: Sendable {
  let name: String
  let interval: Duration
  let body: @Sendable (Pool) async throws -> Void

  /// - Parameters:
  ///   - interval: the pause between two runs, also after a failure. A slow task does not delay the others.
  ///   - body: several workers may run it at once.
  package init(_ name: String, every interval: Duration, _ body: @escaping @Sendable (Pool) async throws -> Void) {
    self.name = name
    self.interval = interval
    self.body = body
  }
}

/// Runs the maintenance tasks: lost workers, passed deadlines, scheduled jobs, cron schedules, history.
///
/// Every worker does so, and none leads: each statement skips rows that another worker has locked.
struct Maintenance: Sendable {
  let configuration: QueueWorkerConfiguration
  let pool: Pool
  /// Runs in the transaction that reaps jobs.
  let onReaped: @Sendable ([Reaped], Session) throws -> Void
  let tasks: [MaintenanceTask]
  let metrics: WorkerMetrics
  /// Called when jobs became available.
  let onAvailable: @Sendable () -> Void
  let log: Logger

  /// Runs until its task is cancelled.
  func run() async {
    // Concurrently: a slow task must not delay the return of lost jobs.
    await withDiscardingTaskGroup { group in
      for task in queueTasks + tasks { group.addTask { await self.repeat(task) } }
    }
  }

  private func `repeat`(_ task: MaintenanceTask) async {
    while !Task.isCancelled {
      do {
        try await task.body(pool)
      } catch is CancellationError {
        return
      } catch {
        log.warning("a maintenance task failed", ["task": task.name, "error": "\(error)"])
      }
      try? await configuration.clock.sleep(for: max(task.interval, configuration.pollInterval))
    }
  }

  private var queueTasks: [MaintenanceTask] {
    [
      MaintenanceTask("reap", every: configuration.reapInterval, reap),
      MaintenanceTask("promote", every: .zero) { [onAvailable] pool in
        let promoted = try await pool.run { session in try JobQueue.promote(session) + JobQueue.grant(session) }
        if promoted > 0 { onAvailable() }
      },
      MaintenanceTask("cron", every: .zero, fireCron),
      MaintenanceTask("history", every: .seconds(3600)) { [configuration] pool in
        var isPrepared = try await pool.run { session in
          let isPrepared = try JobQueue.prepareHistory(session)
          try JobQueue.dropHistory(olderThanDays: configuration.historyDays, session)
          try JobQueue.dropShares(session)
          return isPrepared
        }
        // A reader has locked the history for days: tomorrow's partition cannot wait for the next run.
        while !isPrepared {
          try await configuration.clock.sleep(for: configuration.reapInterval * 12)
          isPrepared = try await pool.run { try JobQueue.prepareHistory($0) }
        }
      },
      VacuumMonitor(limits: configuration.vacuum, log: log).task,
    ]
  }

  @Sendable private func reap(_ pool: Pool) async throws {
    let reaped = try await pool.transaction { [onReaped, faults = configuration.faults] session in
      let reaped = try JobQueue.reap(by: faults, session)
      try onReaped(reaped, session)
      return reaped
    }
    metrics.reaped(reaped)
    for job in reaped {
      log.warning("a job was taken from its worker", ["job": job.publicID.description, "state": job.state.rawValue])
    }
  }

  @Sendable private func fireCron(_ pool: Pool) async throws {
    try await pool.run { [log] session in
      try JobQueue.fireCron(session) { firing in
        log.info("a cron schedule fired", ["schedule": firing.name, "job": firing.job.description])
      }
    }
  }
}
