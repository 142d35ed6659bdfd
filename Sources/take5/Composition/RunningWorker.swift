import Blobs
import Logging
import Metrics
import Platform
import Postgres
import Store
import Worker

/// A worker that comes back under a new id whenever it was taken for dead.
final class RunningWorker: Sendable {
  private let make: @Sendable () throws -> WorkerService
  private let log: Logger
  private let current = Locked<WorkerService?>(nil)
  private let stopping = CancellationFlag()

  init(
    configuration: WorkerConfiguration, database: DatabaseAccess, store: Store, blobs: any InspectableBlobStore,
    log: Logger,
    metrics: Metrics
  ) {
    self.log = log
    make = {
      try WorkerService(
        configuration: configuration, database: database.url, pool: database.pool, store: store, blobs: blobs, log: log,
        metrics: metrics)
    }
  }

  /// Works until `stop()`.
  func run() async {
    while !stopping.isCancelled {
      do {
        let service = try make()
        current.withLock { $0 = service }
        // A stop that came before the line above is heard here.
        if stopping.isCancelled { return }
        try await service.run()
      } catch {
        log.error("the worker could not work; trying again", ["error": "\(error)"])
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Asks it to end after its running jobs.
  func stop() {
    stopping.cancel()
    current.withLock { $0 }?.stop()
  }
}
