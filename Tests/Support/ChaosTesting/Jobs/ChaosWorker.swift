import Glibc
import Model
import Platform
package import Postgres
package import Queue
import Telemetry
import WaitTesting

/// A `QueueWorker` with the handler of a run. It is started again under a new id whenever it loses its lease.
package final class ChaosWorker: Sendable {
  /// The number of concurrent jobs of each queue.
  private static let slots = 2

  private let make: @Sendable () -> QueueWorker
  private let ledger: Ledger
  private let pool: Pool
  private let log = Logger(format: .text)
  private let current = Locked<QueueWorker?>(nil)
  private let stopping = CancellationFlag()

  /// - Parameters:
  ///   - ledger: the path of the ledger.
  ///   - mayStop: whether a job may stop the worker.
  package init(
    database: DatabaseURL, ledger path: String, mayStop: Bool, configuration: QueueWorkerConfiguration
  ) throws {
    let ledger = try Ledger(path)
    let database = database.with(idleTransactionLimit: configuration.lease)
    let pool = Pool(database, size: 2 * Self.slots + 3)
    let handler = ChaosHandler(ledger: ledger, pool: pool, mayStop: mayStop)
    let consumers = [ChaosJob.longQueue, ChaosJob.shortQueue].map {
      ConsumerConfiguration(queue: $0, slots: Self.slots, handler: handler)
    }
    self.ledger = ledger
    self.pool = pool
    make = { [log] in
      QueueWorker(
        configuration: configuration, database: database, pool: pool, consumers: consumers, log: log, metrics: Metrics()
      )
    }
  }

  /// Runs until `stop()`.
  package func run() async throws {
    let deadline = Deadline("the end of the worker", within: .seconds(3600))
    while !stopping.isCancelled {
      try deadline.check()
      let worker = make()
      current.withLock { $0 = worker }
      // `stop()` may have been called before the worker was stored.
      if stopping.isCancelled { break }
      do {
        try await worker.run()
      } catch {
        log.error("the worker failed; starting it again", ["error": "\(error)"])
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    await pool.close()
    try ledger.write(.exited)
  }

  /// Stops the worker after its running jobs.
  package func stop() {
    stopping.cancel()
    current.withLock { $0 }?.stop()
  }
}

/// Performs the jobs of a run. Their effect is written in the transaction that ends the job.
final class ChaosHandler: JobHandler {
  let ledger: Ledger
  let pool: Pool
  /// Whether a job may stop the worker.
  let mayStop: Bool
  /// The jobs that this process has snoozed.
  private let snoozed = Locked<Set<PublicID>>([])

  init(ledger: Ledger, pool: Pool, mayStop: Bool) {
    self.ledger = ledger
    self.pool = pool
    self.mayStop = mayStop
  }

  private enum Ending {
    case completed(Completion)
    case failed(error: String)
    case snoozed
    case stopped(HeldJob.StopReason)
  }

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let job = held.job
    do {
      try ledger.write(.started(job.publicID, token: job.token, attempt: job.attempt))
      let ending = try await work(held)
      try ledger.write(.returned(job.publicID, token: job.token))
      try await write(ending, of: held, log)
    } catch {
      log.error("the attempt failed", ["error": "\(error)"])
    }
    return .healthy
  }

  private func work(_ held: HeldJob) async throws -> Ending {
    let spec = try ChaosJob(held.job)
    held.advance(to: JobProgress(fraction: 0.5, stage: "work"))
    switch spec.behaviour {
    case .completes, .rejects: break
    case .failsOnce where held.job.attempt > 1: break
    case .failsOnce, .failsAlways: return .failed(error: ChaosJob.error)
    case .snoozesOnce where snoozed.withLock({ $0.insert(held.job.publicID).inserted }): return .snoozed
    case .snoozesOnce: break
    case .cancelsItself:
      try await repeating(held) { session in
        try session.transaction { session in _ = try JobQueue.cancel(held.job.publicID, session) }
      }
      // The next heartbeat reports the cancellation.
      return .stopped(wait(held, milliseconds: 10_000) ?? .cancelled)
    case .stopsWorker where mayStop:
      kill(getpid(), SIGTERM)
      if let stop = wait(held, milliseconds: 10_000) { return .stopped(stop) }
    case .stopsWorker: break
    }
    if let stop = wait(held, milliseconds: spec.milliseconds) { return .stopped(stop) }
    return .completed(spec.behaviour == .rejects ? .rejected : .accepted)
  }

  // It runs on a thread of the worker and may block.
  private func wait(_ held: HeldJob, milliseconds: Int) -> HeldJob.StopReason? {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while held.stopReason == nil && ContinuousClock.now < end { usleep(2000) }
    return held.stopReason
  }

  private func write(_ ending: Ending, of held: HeldJob, _ log: Logger) async throws {
    let job = held.job
    if case .stopped(.leaseLost) = ending { return }
    do {
      try await repeating(held) { session in
        try session.transaction { session in try write(ending, of: job, session) }
      }
      guard case .completed = ending, held.stopReason != .leaseLost else { return }
      try ledger.write(.committed(job.publicID, token: job.token))
    } catch let lost as LeaseLost {
      if case .stopped(.cancelled) = ending { return log.info("the job had ended before", ["error": "\(lost)"]) }
      // The job may have been cancelled. It then gets no further attempt, and this write ends it.
      try await write(.stopped(.cancelled), of: held, log)
    }
  }

  private func write(_ ending: Ending, of job: ClaimedJob, _ session: Session) throws {
    switch ending {
    case .completed(let completion):
      // The effect precedes the end of the job, which fails if the lease is lost and rolls the effect back.
      if completion == .accepted {
        try session.execute(
          ChaosSchema.statements["effect"], .text(job.publicID.description), .integer(job.token))
      }
      try JobQueue.complete(job, completion, result: nil, session)
    case .failed(let error):
      _ = try JobQueue.fail(job, error: error, by: RetryPolicy(firstPause: 0.1, maxPause: 0.1), session)
    case .snoozed: try JobQueue.snooze(job, seconds: 0.1, session)
    case .stopped(.drained): try JobQueue.release(job, session)
    case .stopped(.cancelled): try JobQueue.complete(job, .cancelled, result: nil, session)
    case .stopped(.leaseLost): break
    }
  }

  /// Repeats a body until it succeeds or the lease is lost. Its writes are fenced by the token and may be repetitions.
  private func repeating(_ held: HeldJob, _ body: @Sendable (Session) throws -> Void) async throws {
    let deadline = Deadline("a server that responds", within: .seconds(3600))
    while held.stopReason != .leaseLost {
      try deadline.check()
      do {
        return try await pool.run(body)
      } catch let error as PostgresError where error.isTransient {
        usleep(20_000)
      }
    }
  }
}
