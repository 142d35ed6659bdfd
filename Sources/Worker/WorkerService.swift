package import Blobs
import FoundationEssentials
import Integrity
package import MediaProcess
import Model
import Platform
package import Postgres
package import Queue
package import Store
package import Telemetry

/// The worker of the service: claims jobs and performs as many at a time as it has slots.
package final class WorkerService: Sendable {
  let worker: QueueWorker
  private let allSlots: [MediaProcess]

  /// - Parameters:
  ///   - database: for the worker's own connections: the heartbeat and the listener.
  ///   - pool: for all other statements.
  ///   - metrics: receives the counts of jobs and of damaged blobs.
  ///   - tasks: maintenance in addition to the tasks of the core and its rooms.
  ///   - couriers: what sends to receivers outside.
  ///   - tracer: nil: attempts are not traced.
  ///   - onStart: called when the worker is registered and begins to claim.
  package init(
    configuration: WorkerConfiguration, database: DatabaseURL, pool: Pool, store: Store,
    blobs: any InspectableBlobStore, tasks: [MaintenanceTask] = [], couriers: [any Courier] = [],
    log: Logger, metrics: Metrics, tracer: Tracer? = nil, onStart: @escaping @Sendable () -> Void = {}
  ) throws {
    let slots = try (0..<configuration.slots).map { number in
      var media = configuration.media
      // Requests and first looks take precedence over compositions.
      media.priority = .low
      return try MediaProcess(name: "media-\(number + 1)", configuration: media)
    }
    let lookSlots = try (0..<configuration.lookSlots).map { number in
      try MediaProcess(name: "look-\(number + 1)", configuration: configuration.media)
    }
    let backgroundSlots = try (0..<configuration.backgroundSlots).map { number in
      var media = configuration.media
      media.priority = .idle
      return try MediaProcess(name: "background-\(number + 1)", configuration: media)
    }
    allSlots = slots + lookSlots + backgroundSlots
    let recorder = DamageRecorder(blobs: blobs, log: log, metrics: metrics)
    let foreground = MediaHandler(
      free: FreeSlots(slots), slots: slots.count, pool: pool, store: store, blobs: blobs,
      damages: recorder)
    let looks = MediaHandler(
      free: FreeSlots(lookSlots), slots: lookSlots.count, isolation: foreground.isolation, pool: pool, store: store,
      blobs: blobs, damages: recorder)
    // `slots: 1` limits each background job to one core, so that it does not slow down other jobs.
    let background = MediaHandler(
      free: FreeSlots(backgroundSlots), slots: 1, pool: pool, store: store, blobs: blobs,
      damages: recorder)
    var queue = configuration.queue
    queue.faults.stagesAtRisk = AttemptStage.atRisk
    let repair = DamageRepair(recorder: recorder, store: store)
    worker = QueueWorker(
      configuration: queue, database: database, pool: pool,
      consumers: [
        (LookJob.queue, lookSlots.count, looks), (PostJob.queue, slots.count, foreground),
        (ReprocessJob.queue, backgroundSlots.count, background),
        (JobKinds.taskQueue, 1, TaskHandler(pool: pool, store: store) as any JobHandler),
      ].filter { $0.1 > 0 }.map {
        // Submissions alone have limits and head starts.
        ConsumerConfiguration(queue: $0.0, slots: $0.1, handler: $0.2, mayLeaveJobs: $0.0 == PostJob.queue)
      }
        + couriers.map {
          ConsumerConfiguration(
            queue: $0.queue, slots: $0.slots, handler: CourierHandler(courier: $0, pool: pool, store: store),
            mayLeaveJobs: false)
        },
      tasks: [
        // Blobs whose pause has ended since their release.
        MaintenanceTask("collect", every: configuration.queue.reapInterval * 6) { pool in
          try await store.collecting.collectReleased(pool)
          try await store.collecting.makeRoom(pool)
        },
        MaintenanceTask("revive", every: configuration.queue.reapInterval * 6) {
          [faults = configuration.queue.faults] pool in
          let revived = try await pool.transaction { session in try JobControl.revive(by: faults, session) }
          for (job, _) in revived { log.info("a dead job is retried", ["job": job.description]) }
          guard !revived.isEmpty else { return }
          try await pool.run { session in
            for queue in Set(revived.values) { try JobQueue.notify(queue: queue, session) }
          }
        },
        MaintenanceTask("reprocess", on: Reprocessing.channel) { pool in
          try await pool.transaction { session in
            guard let jobs = try Reprocessing.schedule(session) else { return nil }
            if jobs > 0 { try JobQueue.notify(queue: ReprocessJob.queue, session) }
            return .seconds(1)
          }
        },
        MaintenanceTask("retired", every: configuration.queue.reapInterval * 12) { [grace = configuration.grace] pool in
          // A worker that stops leaves the rest to other workers.
          while try await pool.transaction({ session in try Assets.dropRetired(olderThan: grace, session) }) > 0 {
            try Task.checkCancellation()
          }
          while try await store.collecting.collectReleased(pool).examined > 0 {
            try Task.checkCancellation()
          }
        },
        MaintenanceTask("rejected", every: configuration.queue.reapInterval * 12) { pool in
          while try await pool.transaction({ session in try store.dropRejectedSources(session) }) > 0 {
            try Task.checkCancellation()
          }
        },
        MaintenanceTask("repair", every: configuration.queue.reapInterval * 2) { pool in try await repair.run(pool) },
        MaintenanceTask("answers", every: .seconds(3600)) { pool in
          try await pool.run { session in while try Idempotency.dropExpired(session) > 0 {} }
        },
        MaintenanceTask("runs", every: .seconds(3600)) { pool in
          try await pool.run { session in while try Reprocessing.dropOld(session) > 0 {} }
        },
        MaintenanceTask("uploads", every: .seconds(3600), by: .eachWorker) { pool in
          try await Forgetting.removeUploads(blobs, pool) { id, reason in
            log.warning("the record of an upload is damaged", ["upload": "\(id)", "error": reason])
          }
        },
        MaintenanceTask("forgotten", every: .seconds(3600)) { pool in
          try await pool.run { session in try Forgetting.dropOld(session) }
        },
      ] + store.rooms.flatMap { $0.maintenance } + tasks,
      settingAside: store.rooms.settingAside,
      onReaped: { reaped, session in try JobControl.fail(reaped, session) }, onStart: onStart, log: log,
      metrics: metrics,
      kinds: [PostJob.kind, LookJob.kind, ImageJob.kind, ReprocessJob.kind, ForgetJob.kind], tracer: tracer)
  }

  /// Asks the worker to end: `run()` claims no more jobs and returns after the drain.
  package func stop() { worker.stop() }

  /// Works until `stop()`, or until the worker loses its lease; the caller then starts a new worker under a new id.
  package func run() async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await worker.run()) } catch { outcome = .failure(error) }
    for slot in allSlots { await slot.stop() }
    try outcome.get()
  }
}

/// The configuration of a worker.
package struct WorkerConfiguration: Sendable {
  /// The number of jobs at a time; one for each core has the highest throughput. With 0 only outputs are made again.
  package var slots = 1
  /// The number of first looks at a time. They are short: by default one for four jobs, but two where there are two jobs, so that
  /// the many looks of one author pass quickly.
  package var lookSlots: Int {
    get { chosenLookSlots ?? max((slots + 3) / 4, min(slots, 2)) }
    set { chosenLookSlots = newValue }
  }
  private var chosenLookSlots: Int?
  /// The number of reprocessing jobs at a time, which get only idle processor time.
  package var backgroundSlots = 1
  /// The grace period of replaced outputs.
  package var grace = Duration.seconds(24 * 60 * 60)
  package var queue = QueueWorkerConfiguration()
  package var media = MediaProcess.Configuration()

  package init() {}
}
