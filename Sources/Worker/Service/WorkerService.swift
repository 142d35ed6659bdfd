package import Blobs
package import Logging
import MediaProcess
package import Metrics
package import Postgres
import Queue
import QueueWorker
package import Store

/// A worker of this service: takes jobs from the queue and carries them out, as many at a time as it has slots.
package final class WorkerService: Sendable {
  private let worker: QueueWorker
  private let slots: [MediaSlot]

  /// - Parameters:
  ///   - database: for the connections of its own: signs of life, and listening.
  ///   - pool: for everything else.
  ///   - metrics: what is done is counted there.
  package init(
    configuration: WorkerConfiguration, database: DatabaseURL, pool: Pool, store: Store, blobs: any BlobStore,
    log: Logger, metrics: Metrics
  ) throws {
    slots = try (1...configuration.slots).map { number in
      try MediaSlot(name: "media-\(number)", configuration: configuration.media)
    }
    let media = MediaHandler(
      free: FreeSlots(slots), slots: configuration.slots, pool: pool, store: store, blobs: blobs)
    worker = QueueWorker(
      configuration: configuration.queue, database: database, pool: pool,
      lines: [
        .long(queue: PostJob.queue, slots: configuration.slots, handler: media),
        .short(queue: TaskKind.queue, handler: TaskHandler(store: store)),
      ],
      chores: [
        // What a worker released and died before it could collect.
        Chore("collect", every: configuration.queue.reapInterval) { pool in
          _ = try await pool.transaction { session in try store.collectReleased(session) }
        },
        Chore("answers", every: .seconds(3600)) { pool in
          try await pool.run { session in while try store.dropExpiredAnswers(session) > 0 {} }
        },
      ],
      onReaped: { reaped, session in try store.fail(reaped, session) }, log: log, metrics: metrics)
  }

  /// Asks it to end: `run()` takes no new job and returns after the drain.
  package func stop() { worker.stop() }

  /// Works until `stop()`, or until it was taken for dead: then it must be made anew, under a new id.
  package func run() async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await worker.run()) } catch { outcome = .failure(error) }
    for slot in slots { await slot.stop() }
    try outcome.get()
  }
}
