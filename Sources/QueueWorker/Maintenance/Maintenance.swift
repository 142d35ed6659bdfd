import Logging
import Model
import Platform
import Postgres
import Queue

/// Looks after what others left behind: dead workers, passed deadlines, jobs whose time has come, days of history.
///
/// Every worker does it, without a leader: each statement skips what another holds.
struct Maintenance: Sendable {
  let configuration: QueueWorkerConfiguration
  let pool: Pool
  /// What follows from the ends of jobs, in the same transaction.
  let onReaped: @Sendable ([Reaped], Session) throws -> Void
  let chores: [Chore]
  let metrics: WorkMetrics
  /// Called when jobs became available.
  let onAvailable: @Sendable () -> Void
  let log: Logger

  /// Goes on until its task is cancelled.
  func run() async {
    // Side by side: one that has much to do must not put off the return of lost jobs.
    await withDiscardingTaskGroup { group in
      for chore in own + chores { group.addTask { await self.goOn(with: chore) } }
    }
  }

  private func goOn(with chore: Chore) async {
    while !Task.isCancelled {
      do {
        try await chore.body(pool)
      } catch is CancellationError {
        return
      } catch {
        log.warning("the queue could not be looked after", ["chore": chore.name, "error": "\(error)"])
      }
      try? await Task.sleep(for: max(chore.interval, configuration.pollInterval))
    }
  }

  private var own: [Chore] {
    [
      Chore("reap", every: configuration.reapInterval, reap),
      Chore("promote", every: .zero) { [onAvailable] pool in
        let promoted = try await pool.run { session in try JobQueue.promote(session) + JobQueue.grant(session) }
        if promoted > 0 { onAvailable() }
      },
      Chore("cron", every: .zero, fireCron),
      Chore("history", every: .seconds(3600)) { [configuration] pool in
        var isPrepared = try await pool.run { session in
          let isPrepared = try JobQueue.prepareHistory(session)
          try JobQueue.dropHistory(olderThanDays: configuration.historyDays, session)
          try JobQueue.dropShares(session)
          return isPrepared
        }
        // Somebody has been reading the history for days: what is needed by tomorrow cannot wait for the next turn.
        while !isPrepared {
          try await Task.sleep(for: configuration.reapInterval * 12)
          isPrepared = try await pool.run { try JobQueue.prepareHistory($0) }
        }
      },
      VacuumWatch(limits: configuration.vacuum, log: log).chore,
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
        log.info("a cron entry fired", ["entry": firing.name, "job": firing.job.description])
      }
    }
  }
}
