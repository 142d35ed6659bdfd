import Blobs
import Crypto
import Integrity
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import Store
import Telemetry

/// The handler of the jobs that need a media process; each job uses one slot.
struct MediaHandler: JobHandler {
  let free: FreeSlots
  /// The number of slots that jobs of this handler can use in parallel.
  let slots: Int
  /// Of all jobs whose loss counts against media that run alone.
  var isolation = Isolation()
  let pool: Pool
  let store: Store
  let blobs: any BlobStore
  let damages: DamageRecorder
  var clock: any WorkerClock = ContinuousClock()

  /// The longest time that a job waits for isolation, or behind an isolated job, before it is snoozed.
  private static let maxWait = Duration.seconds(20)

  /// False while a job runs isolated, or waits for it: other workers can take further jobs.
  var takesMore: Bool { !isolation.isReserved }

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let record = AttemptRecord(held: held, pool: pool, store: store, log: log, clock: clock)
    guard let slot = free.take() else {
      await record.write(.stopped(.drained))
      return .unknown
    }
    defer { free.add(slot) }
    let work: Work
    do {
      let found = try await pool.run { [store] session in
        try session.snapshot { session in try store.work(for: held.job, session) }
      }
      guard let found else {
        await record.write(.superseded(.cancelled))
        return .unknown
      }
      work = found
    } catch let error as StoreError where held.job.kind == ReprocessJob.kind && !error.mayBeNewer {
      // The subject was deleted, and needs no new outputs, or another attempt would fail as this one.
      await record.write(.superseded(.failed("\(error)")))
      return .unknown
    } catch {
      // An outage of the database does not pause the queue: without the database there are no claims.
      await record.write(AttemptEnding(error))
      return .unknown
    }
    var ending = await attempt(held, work, slot, isAlone: isAlone, log)
    if work.look != nil { ending = ending.ofLook(work) }
    held.begin(.commit)
    switch await record.write(ending) {
    case .accepted, .rejected, .unchanged: return .healthy
    case .unable(let outage): return .outage(outage)
    case .damaged(let error, let hash):
      do { try await damages.check(hash, pool) } catch {
        log.warning("a damaged source could not be recorded", ["blob": hash.hex, "error": "\(error)"])
      }
      log.error("a source is damaged", ["error": error.description])
      return .unknown
    default: return .unknown
    }
  }

  private func attempt(
    _ held: HeldJob, _ work: Work, _ slot: any MediaRunner, isAlone: Bool, _ log: Logger
  ) async -> AttemptEnding {
    // The machine nearly always causes a first loss: a machine that comes back composes and shows looks as before.
    let isIsolated = work.refusals.isEmpty && (work.isSuspect || held.job.lost > 1)
    guard await isolation.enter(alone: isIsolated, within: Self.maxWait, by: clock) else { return .crowded }
    defer { isolation.leave() }
    if let stop = held.stopReason { return .stopped(stop) }
    // A job that runs alone uses all cores; otherwise each job uses one.
    // A first look is short.
    let mode: ExecutionMode =
      work.look != nil || slots > 1 && (isAlone || isIsolated) ? .latency : .throughput
    let attempt = Attempt(control: held, media: slot, mode: mode, blobs: blobs, log: log)
    return await attempt.run(work)
  }
}

/// The slots without a job.
final class FreeSlots: Sendable {
  private let slots: Locked<[any MediaRunner]>

  init(_ slots: [any MediaRunner]) { self.slots = Locked(slots) }

  /// Takes a slot; nil if there is none.
  func take() -> (any MediaRunner)? { slots.withLock { $0.popLast() } }

  /// Returns a slot.
  func add(_ slot: any MediaRunner) { slots.withLock { $0.append(slot) } }
}

/// The handler of the jobs that need no media process.
struct TaskHandler: JobHandler {
  let pool: Pool
  let store: Store
  var clock: any WorkerClock = ContinuousClock()

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let job = held.job
    do {
      try await store.prepare(job, pool)
      // The effect of the job and its completion are one transaction, and so are a batch and the return of the job.
      let step = try await pool.transaction { [store] session in
        let step = try store.perform(job, session)
        switch step {
        case .batch: try JobQueue.requeue(job, session)
        case .last:
          try JobQueue.complete(job, .accepted, result: nil, session)
          try JobQueue.notifyChange(of: job.publicID, session)
        }
        return step
      }
      held.end(step == .batch ? "continued" : "accepted")
      // What the job has deleted may have released blobs. If this fails, a maintenance task collects them.
      while let collected = try? await store.collecting.collectReleased(pool), collected.examined > 0 {}
    } catch {
      await AttemptRecord(held: held, pool: pool, store: store, log: log, clock: clock).write(AttemptEnding(error))
    }
    return .unknown
  }
}
