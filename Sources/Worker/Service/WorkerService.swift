package import Blobs
import Integrity
package import Logging
import MediaProcess
package import Metrics
import Model
package import Postgres
import Queue
import QueueWorker
package import Store

/// A worker of this service: takes jobs from the queue and carries them out, as many at a time as it has slots.
package final class WorkerService: Sendable {
  private let worker: QueueWorker
  private let allSlots: [MediaSlot]

  /// - Parameters:
  ///   - database: for the connections of its own: signs of life, and listening.
  ///   - pool: for everything else.
  ///   - metrics: what is done is counted there.
  package init(
    configuration: WorkerConfiguration, database: DatabaseURL, pool: Pool, store: Store,
    blobs: any InspectableBlobStore,
    log: Logger, metrics: Metrics
  ) throws {
    let slots = try (1...configuration.slots).map { number in
      try MediaSlot(name: "media-\(number)", configuration: configuration.media)
    }
    let backgroundSlots = try (0..<configuration.backgroundSlots).map { number in
      var media = configuration.media
      media.isBackground = true
      return try MediaSlot(name: "background-\(number + 1)", configuration: media)
    }
    allSlots = slots + backgroundSlots
    let recorder = DamageRecorder(store: store, blobs: blobs, log: log, metrics: metrics)
    let media = MediaHandler(
      free: FreeSlots(slots), slots: slots.count, pool: pool, store: store, blobs: blobs,
      damages: recorder)
    // Each has one core at most: it is not to be in anybody's way.
    let again = MediaHandler(
      free: FreeSlots(backgroundSlots), slots: 1, pool: pool, store: store, blobs: blobs,
      damages: recorder)
    var queue = configuration.queue
    queue.faults.stagesAtRisk = AttemptStage.atRisk
    let repair = DamageRepair(recorder: recorder)
    worker = QueueWorker(
      configuration: queue, database: database, pool: pool,
      consumers: [
        ConsumerConfiguration(queue: PostJob.queue, slots: slots.count, handler: media),
        ConsumerConfiguration(queue: TaskKind.queue, slots: 1, handler: TaskHandler(pool: pool, store: store)),
      ]
        + (backgroundSlots.isEmpty
          ? [] : [ConsumerConfiguration(queue: ReprocessJob.queue, slots: backgroundSlots.count, handler: again)]),
      tasks: [
        // What a worker released and died before it could collect.
        MaintenanceTask("collect", every: configuration.queue.reapInterval) { pool in
          _ = try await pool.transaction { session in try store.collectReleased(session) }
        },
        MaintenanceTask("revive", every: configuration.queue.reapInterval) {
          [faults = configuration.queue.faults] pool in
          let revived = try await pool.transaction { session in try store.revive(by: faults, session) }
          for (job, _) in revived { log.info("a dead job is tried again", ["job": job.description]) }
          try await pool.run { session in
            for queue in Set(revived.values) { try JobQueue.notify(queue: queue, session) }
          }
        },
        MaintenanceTask("reprocess", every: .seconds(1)) { pool in
          try await pool.transaction { session in
            if try store.feedRuns(session) > 0 { try JobQueue.notify(queue: ReprocessJob.queue, session) }
          }
        },
        MaintenanceTask("retired", every: .seconds(60)) { [grace = configuration.grace] pool in
          // A worker that ends leaves the rest to others.
          while try await pool.transaction({ session in try store.dropRetired(olderThan: grace, session) }) > 0 {
            try Task.checkCancellation()
          }
          while try await pool.transaction({ session in try store.collectReleased(session) }).examined > 0 {
            try Task.checkCancellation()
          }
        },
        MaintenanceTask("repair", every: .seconds(5)) { pool in try await repair.run(pool) },
        MaintenanceTask("answers", every: .seconds(3600)) { pool in
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
    for slot in allSlots { await slot.stop() }
    try outcome.get()
  }
}
