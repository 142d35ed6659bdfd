import Blobs
import Logging
import Metrics
import Platform
import Postgres
import Store
import Tracing
import Worker

/// A worker that registers again, under a new id, after it has lost its lease or failed.
final class RestartingWorker: Sendable {
  private let make: @Sendable () throws -> WorkerService
  private let log: Logger
  private let current = Locked<WorkerService?>(nil)
  private let stopping = CancellationFlag()

  /// - Parameter onStart: called each time that the worker is registered and begins to claim.
  init(
    configuration: WorkerConfiguration, database: DatabaseAccess, store: Store, blobs: any InspectableBlobStore,
    log: Logger, metrics: Metrics, tracer: Tracer?, onStart: @escaping @Sendable () -> Void = {}
  ) {
    self.log = log
    make = {
      try WorkerService(
        configuration: configuration, database: database.url, pool: database.pool, store: store, blobs: blobs, log: log,
        metrics: metrics, tracer: tracer, onStart: onStart)
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
