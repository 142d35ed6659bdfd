import Logging
import Postgres
import Queue
import QueueWorker
import Store

/// Performs the jobs that need no media process.
struct TaskHandler: JobHandler {
  let pool: Pool
  let store: Store

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let job = held.job
    do {
      // What the job does and its end are one transaction.
      try await pool.transaction { [store] session in
        switch TaskKind(rawValue: job.kind) {
        case .window: try store.openWindow(for: job, session)
        // A newer worker may know the kind: the job is tried again until its attempts are used up.
        case nil: throw StoreError.unknownKind(job.kind, job.publicID)
        }
        try JobQueue.complete(job, .accepted, result: nil, session)
        try JobQueue.notifyChange(of: job.publicID, session)
      }
      held.end("accepted")
    } catch {
      await AttemptRecord(held: held, pool: pool, store: store, log: log)
        .write(AttemptEnding(error, isIsolated: false), of: nil)
    }
    return .unknown
  }
}
