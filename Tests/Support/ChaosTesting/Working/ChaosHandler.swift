import Glibc
import Logging
import Model
import Platform
import Postgres
import Queue
import QueueWorker

/// Carries out the jobs of a run: their effect is written in the transaction that ends them.
struct ChaosHandler: JobHandler {
  let ledger: Ledger
  let pool: Pool
  /// Whether a job may ask this worker to end.
  let mayDrain: Bool

  private enum Ending {
    case completed(Completion)
    case retry(error: String)
    case snoozed
    case stopped(HeldJob.StopReason)
  }

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let job = held.job
    do {
      try ledger.write(.began(job.publicID, token: job.token, attempt: job.attempt))
      let ending = try await work(held)
      try ledger.write(.left(job.publicID, token: job.token))
      try await write(ending, of: held, log)
    } catch {
      log.error("the attempt is given up", ["error": "\(error)"])
    }
    return .healthy
  }

  private func work(_ held: HeldJob) async throws -> Ending {
    let spec = try ChaosJob(held.job)
    held.advance(to: JobProgress(fraction: 0.5, stage: "work"))
    switch spec.behaviour {
    case .works, .refuses: break
    case .fails where held.job.attempt > 1: break
    case .fails, .breaks: return .retry(error: HandlerError().description)
    // Tokens are random: the next attempt, under another, need not be put off.
    case .snoozes where held.job.token.isMultiple(of: 2): return .snoozed
    case .snoozes: break
    case .cancelsItself:
      try await repeating(held) { session in
        try session.transaction { session in _ = try JobQueue.cancel(held.job.publicID, session) }
      }
      // Heard with the next beat.
      return .stopped(wait(held, milliseconds: 10_000) ?? .cancelled)
    case .drains where mayDrain:
      kill(getpid(), SIGTERM)
      if let stop = wait(held, milliseconds: 10_000) { return .stopped(stop) }
    case .drains: break
    }
    if let stop = wait(held, milliseconds: spec.milliseconds) { return .stopped(stop) }
    return .completed(spec.behaviour == .refuses ? .rejected : .accepted)
  }

  // On a thread of the worker's own: it may block.
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
      try ledger.write(.finished(job.publicID, token: job.token))
    } catch let lost as LeaseLost {
      if case .stopped(.cancelled) = ending { return log.info("it had ended before", ["error": "\(lost)"]) }
      // It may have been cancelled: then it gets no further attempt, and this is its end.
      try await write(.stopped(.cancelled), of: held, log)
    }
  }

  private func write(_ ending: Ending, of job: ClaimedJob, _ session: Session) throws {
    switch ending {
    case .completed(let completion):
      // The effect first: if the lease is lost it must go with the transaction.
      if completion == .accepted {
        try session.execute(
          ChaosSchema.statements["effect"], .text(job.publicID.description), .integer(job.token))
      }
      try JobQueue.complete(job, completion, result: nil, session)
    case .retry(let error) where job.attempt < job.maxAttempts:
      try JobQueue.retry(job, afterSeconds: 0.1, error: error, session)
    case .retry(let error): try JobQueue.bury(job, error: error, session)
    case .snoozed: try JobQueue.snooze(job, seconds: 0.1, session)
    case .stopped(.drained): try JobQueue.release(job, session)
    case .stopped(.cancelled): try JobQueue.complete(job, .cancelled, result: nil, session)
    case .stopped(.leaseLost): break
    }
  }

  /// Runs a body until it succeeds or the lease is lost; what it does is fenced by the token, and may have happened before.
  private func repeating(_ held: HeldJob, _ body: @Sendable (Session) throws -> Void) async throws {
    while held.stopReason != .leaseLost {
      do {
        return try await pool.run(body)
      } catch let error as PostgresError where error.isTransient {
        usleep(20_000)
      }
    }
  }
}
