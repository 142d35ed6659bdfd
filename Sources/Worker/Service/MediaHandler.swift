import Blobs
import Crypto
import Integrity
import Logging
import MediaProcess
import Model
import Postgres
import Queue
import QueueWorker
import Store

/// Carries out what is to be done with media: a slot of the media process for each job.
struct MediaHandler: JobHandler {
  let free: FreeSlots
  /// How many slots there are.
  let slots: Int
  let isolation = Isolation()
  let pool: Pool
  let store: Store
  let blobs: any BlobStore
  let damages: DamageRecorder

  /// One that waits longer to be alone, or behind one that does, has too little time left.
  private static let maxWait = Duration.seconds(20)

  /// While one works alone, or waits to, others are better off elsewhere.
  var takesMore: Bool { !isolation.isReserved }

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let record = AttemptRecord(held: held, pool: pool, store: store, log: log)
    guard let slot = free.take() else {
      await record.write(.stopped(.drained), of: nil)
      return .unknown
    }
    defer { free.add(slot) }
    let work: Work
    do {
      let found = try await pool.run { [store] session in
        try session.snapshot { session in try store.work(for: held.job, session) }
      }
      guard let found else {
        await record.write(.superseded(.cancelled), of: nil)
        return .unknown
      }
      work = found
    } catch let error as StoreError where held.job.kind == ReprocessJob.kind {
      // What is deleted by now has no need of other outputs.
      await record.write(.superseded(.failed("\(error)")), of: nil)
      return .unknown
    } catch {
      // The database is no reason to keep away from a queue: it is what claims ask first.
      await record.write(AttemptEnding(error, isIsolated: false), of: nil)
      return .unknown
    }
    let ending = await attempt(held, work, slot, isAlone: isAlone, log)
    held.endStage()
    switch await record.write(ending, of: work) {
    case .accepted, .rejected, .unchanged: return .healthy
    case .unable(let outage): return .outage(outage)
    case .damaged(let error, let hash):
      do { try await damages.judge(hash, pool) } catch {
        log.warning("a damaged source could not be noted", ["blob": hash.hex, "error": "\(error)"])
      }
      log.error("a source is damaged", ["error": error.description])
      return .unknown
    default: return .unknown
    }
  }

  private func attempt(
    _ held: HeldJob, _ work: Work, _ slot: MediaSlot, isAlone: Bool, _ log: Logger
  ) async -> AttemptEnding {
    let isIsolated = work.isSuspect || held.job.lost > 0
    guard await isolation.enter(alone: isIsolated, within: Self.maxWait) else { return .crowded }
    defer { isolation.leave() }
    if let stop = held.stopReason { return .stopped(stop) }
    if isIsolated { await slot.renew() }
    // A job that has the worker for itself is spread over its cores; of several, each has one.
    let mode: ExecutionMode = slots > 1 && (isAlone || isIsolated) ? .latency : .throughput
    let attempt = Attempt(
      control: held, slot: slot, mode: mode, isIsolated: isIsolated, blobs: blobs, log: log)
    return await attempt.run(work)
  }
}
