import Blobs
import MediaProcess
import Platform
import Postgres
import Queue
import Rooms
import Store
import Telemetry
import Worker

/// A worker that registers again, under a new id, after it has lost its lease or failed.
final class RestartingWorker: Sendable {
  private let make: @Sendable () throws -> WorkerService
  private let log: Logger
  private let current = Locked<WorkerService?>(nil)
  private let stopping = CancellationFlag()

  /// - Parameter onStart: called each time that the worker is registered and begins to claim.
  init(
    configuration: WorkerConfiguration, pool: Pool, store: Store, blobs: any InspectableBlobStore,
    tasks: [MaintenanceTask] = [], couriers: [any Courier] = [], log: Logger, metrics: Metrics, tracer: Tracer?,
    onStart: @escaping @Sendable () -> Void = {}
  ) {
    self.log = log
    make = {
      try WorkerService(
        configuration: configuration, database: pool.url, pool: pool, store: store, blobs: blobs, tasks: tasks,
        couriers: couriers, log: log, metrics: metrics, tracer: tracer, onStart: onStart)
    }
  }

  /// Runs until `stop()`.
  func run() async {
    while !stopping.isCancelled {
      do {
        let service = try make()
        current.withLock { $0 = service }
        // A stop that came before the service was stored.
        if stopping.isCancelled { return }
        try await service.run()
      } catch {
        log.error("the worker failed; trying again", ["error": "\(error)"])
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Asks the worker to end after its running jobs.
  func stop() {
    stopping.cancel()
    current.withLock { $0 }?.stop()
  }
}

extension RestartingWorker {
  /// The connections of a worker that makes outputs again, apart from one for each slot.
  static let ownConnections = 2

  /// Runs a worker in this process while `body` runs. It makes outputs again, at the lowest CPU priority, so that it does not slow a
  /// service on this machine.
  static func reprocessing<Result: Sendable>(
    slots: Int, media: MediaProcess.Configuration, pool: Pool, blobs: any InspectableBlobStore,
    while body: () async throws -> Result
  ) async throws -> Result {
    var configuration = WorkerConfiguration()
    (configuration.slots, configuration.backgroundSlots, configuration.media) = (0, slots, media)
    // The times of the service may be longer than the defaults: it removes what was released, replaced or rejected.
    let leaving = Duration.seconds(366 * 24 * 3600)
    configuration.grace = leaving
    let store = Store(blobs: blobs, rooms: .all, keepRejected: leaving, releasedPause: leaving)
    let worker = RestartingWorker(
      configuration: configuration, pool: pool, store: store, blobs: blobs, log: Logger(lowest: .error),
      metrics: Metrics(), tracer: nil)
    async let running: Void = worker.run()
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    worker.stop()
    await running
    return try result.get()
  }
}
