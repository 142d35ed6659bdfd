import Model
import Platform
package import Postgres
import Telemetry

/// Work that is repeated in addition to the jobs.
package struct MaintenanceTask: Sendable {
  /// Who performs a task.
  package enum Performer: Sendable {
    /// The worker whose turn it is: the work is the same for all.
    case oneWorker
    /// Every worker: the work concerns its machine.
    case eachWorker
  }

  let name: String
  let interval: Duration
  let performer: Performer
  /// A notification on it starts the next run; nil: none does.
  let channel: String?
  let wake = WakeUp()
  /// Returns the time after which there is more to do; nil: after the interval.
  let body: @Sendable (Pool) async throws -> Duration?

  /// - Parameters:
  ///   - interval: the pause between two runs, also after a failure. A slow task does not delay the others.
  ///   - body: several workers may run it at once, also if one worker performs it.
  package init(
    _ name: String, every interval: Duration, by performer: Performer = .oneWorker,
    _ body: @escaping @Sendable (Pool) async throws -> Void
  ) {
    self.name = name
    self.interval = interval
    self.performer = performer
    channel = nil
    self.body = { pool in
      try await body(pool)
      return nil
    }
  }

  /// A task of one worker that notifications start. While they cannot be received it runs at the interval of polling.
  ///
  /// - Parameter body: returns the time until there is more to do; nil: nothing is known to become due.
  package init(_ name: String, on channel: String, _ body: @escaping @Sendable (Pool) async throws -> Duration?) {
    self.name = name
    interval = .zero
    performer = .oneWorker
    self.channel = channel
    self.body = body
  }
}

/// Runs the maintenance tasks: lost workers, passed deadlines, scheduled jobs, history.
///
/// One worker of all does so, whose turn it is. If it ends, another takes the turn within a lease. Nothing depends on there being one:
/// each statement skips rows that another worker has locked.
struct Maintenance: Sendable {
  let worker: Int64
  let configuration: QueueWorkerConfiguration
  let pool: Pool
  /// Runs in the transaction that reaps jobs.
  let onReaped: @Sendable ([Reaped], Session) throws -> Void
  let tasks: [MaintenanceTask]
  /// All that have rows which may be set aside.
  let tables: [SetAside.Table]
  let metrics: WorkerMetrics
  let polling: Polling
  /// Raised when a job may be due before the known ones.
  let schedule: WakeUp
  let log: Logger

  /// Runs until its task is cancelled.
  func run() async {
    // Concurrently: a slow task must not delay the return of lost jobs.
    await withDiscardingTaskGroup { group in
      for task in tasks where task.performer == .eachWorker { group.addTask { await self.repeat(task) } }
      while !Task.isCancelled {
        var pause = configuration.heartbeatInterval
        switch await takeTurn() {
        case .own: await performTurn()
        // All workers know the same end. At it the turn was prolonged, unless its worker has died.
        case .another(let end): pause = end + pause * Double.random(in: 0...0.25)
        case .unknown: break
        }
        try? await configuration.clock.sleep(for: pause)
      }
    }
  }

  /// Performs the tasks of all until another worker has the turn.
  private func performTurn() async {
    await withDiscardingTaskGroup { group in
      for task in queueTasks + tasks where task.performer == .oneWorker { group.addTask { await self.repeat(task) } }
      group.addTask { await self.followSchedule() }
      while (try? await configuration.clock.sleep(for: configuration.heartbeatInterval / 2)) != nil {
        // While the database does not reply, no other worker takes the turn either.
        if case .another = await takeTurn() { break }
      }
      group.cancelAll()
    }
  }

  /// Whose turn it is.
  private enum Turn {
    case own
    /// Until then.
    case another(end: Duration)
    /// The database does not reply.
    case unknown
  }

  /// Takes or prolongs the turn: for twice the time until it is prolonged, after which another worker takes a dead one's turn.
  private func takeTurn() async -> Turn {
    do {
      let turn = try await pool.run { [worker, seconds = configuration.heartbeatInterval / .seconds(1)] session in
        try JobQueue.takeTurn(worker: worker, seconds: seconds, session)
      }
      polling.workers = turn.workers
      return turn.end.map { .another(end: $0) } ?? .own
    } catch {
      log.warning("a maintenance task failed", ["task": "turn", "error": "\(error)"])
      return .unknown
    }
  }

  /// Makes jobs available when they are due.
  private func followSchedule() async {
    let clock = configuration.clock
    await withTaskCancellationHandler {
      while !Task.isCancelled {
        var pause = polling.interval
        do {
          if let next = try await performDue() { pause = min(pause, next) }
        } catch is CancellationError {
          return
        } catch {
          log.warning("a maintenance task failed", ["task": "promote", "error": "\(error)"])
          pause = .zero
        }
        // Many jobs may become due one after another.
        try? await clock.sleep(for: configuration.pollInterval)
        if pause > configuration.pollInterval {
          await schedule.wait(atMost: pause - configuration.pollInterval, by: clock)
        }
      }
    } onCancel: {
      schedule.raise()
    }
  }

  /// Makes available what is due, and returns the time until something else is.
  private func performDue() async throws -> Duration? {
    try await pool.transaction { session in
      for queue in Set(try JobQueue.promote(session)) { try JobQueue.notify(queue: queue, session) }
      return try JobQueue.nextDue(session)
    }
  }

  private func `repeat`(_ task: MaintenanceTask) async {
    while !Task.isCancelled {
      var pause = task.channel == nil ? task.interval : polling.interval
      do {
        if let due = try await task.body(pool) { pause = min(due, pause) }
      } catch is CancellationError {
        return
      } catch {
        log.warning("a maintenance task failed", ["task": task.name, "error": "\(error)"])
      }
      if task.channel == nil {
        try? await configuration.clock.sleep(for: max(pause, configuration.pollInterval))
      } else {
        await withTaskCancellationHandler {
          await task.wake.wait(atMost: pause, by: configuration.clock)
        } onCancel: {
          task.wake.raise()
        }
      }
    }
  }

  var queueTasks: [MaintenanceTask] {
    [
      MaintenanceTask("reap", every: configuration.reapInterval, reap),
      MaintenanceTask("history", every: .seconds(3600)) { [configuration] pool in
        var isPrepared = try await JobHistory.prepare(pool)
        try await JobHistory.drop(olderThanDays: configuration.historyDays, pool)
        try await pool.run { session in
          try JobQueue.dropShares(session)
          try JobHistory.dropDead(olderThanDays: configuration.historyDays, session)
        }
        // A reader has locked the history for days: tomorrow's partition cannot wait for the next run.
        while !isPrepared {
          try await configuration.clock.sleep(for: configuration.reapInterval * 12)
          isPrepared = try await JobHistory.prepare(pool)
        }
      },
      VacuumMonitor(limits: configuration.vacuum, log: log).task,
      SetAside.reporting(tables, metrics, log),
    ]
  }

  /// Reaps, and again when the first lease or deadline ends, if that is before the next run.
  @Sendable private func reap(_ pool: Pool) async throws {
    while let expiry = try await reap(in: pool), expiry < configuration.reapInterval {
      try await configuration.clock.sleep(for: max(expiry, configuration.pollInterval))
    }
  }

  /// Takes jobs from lost workers once; returns the time until another lease or deadline ends.
  private func reap(in pool: Pool) async throws -> Duration? {
    let (reaped, expiry) = try await pool.transaction { [onReaped, faults = configuration.faults] session in
      let reaped = try JobQueue.reap(by: faults, session)
      try onReaped(reaped, session)
      return (reaped, try JobQueue.nextExpiry(session))
    }
    if !reaped.isEmpty { schedule.raise() }
    metrics.reaped(reaped)
    for job in reaped {
      log.warning("a job was taken from its worker", ["job": job.publicID.description, "state": job.state.rawValue])
    }
    return expiry
  }
}
