import Blobs
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
  let pool: Pool
  let store: Store
  let blobs: any BlobStore

  func carryOut(_ held: HeldJob, isAlone: Bool, log: Logger) async {
    // There is one: the queue gives out no more jobs than slots.
    guard let slot = free.take() else { preconditionFailure("more jobs than slots") }
    defer { free.add(slot) }
    let record = AttemptRecord(held: held, pool: pool, store: store, log: log)
    let work: Work
    do {
      let found = try await pool.run { [store] session in
        try session.snapshot { session in try store.work(for: held.job, session) }
      }
      guard let found else { return await record.write(.unwanted(.cancelled), of: nil) }
      work = found
    } catch let error as StoreError where held.job.kind == ReprocessJob.kind {
      // What is deleted by now has no need of other outputs.
      return await record.write(.unwanted(.failed("\(error)")), of: nil)
    } catch {
      return await record.write(.failed("\(error)"), of: nil)
    }
    // A job that has the worker for itself is spread over its cores; of several, each has one.
    let mode: ExecutionMode = slots > 1 && isAlone ? .latency : .throughput
    let attempt = Attempt(control: held, slot: slot, mode: mode, blobs: blobs, log: log)
    let ending = await attempt.run(work)
    held.endStage()
    await record.write(ending, of: work)
  }
}
