import Blobs
import Logging
import MediaProcess
import Metrics
import Platform
import Postgres
import QueueWorker
import Store
import Worker

/// A worker that registers again, under a new id, after it has lost its lease or failed.
final class RestartingWorker: Sendable {
  private let make: @Sendable () throws -> WorkerService
  private let log: Logger
  private let current = Locked<WorkerService?>(nil)
  private let stopping = CancellationFlag()

  init(
    configuration: WorkerConfiguration, database: DatabaseAccess, store: Store, blobs: any InspectableBlobStore,
    log: Logger, metrics: Metrics
  ) {
    self.log = log
    make = {
      try WorkerService(
        configuration: configuration, database: database.url, pool: database.pool, store: store, blobs: blobs, log: log,
        metrics: metrics)
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

extension WorkerConfiguration {
  /// Reads the options of a worker.
  init(_ arguments: Arguments, slots: Int) throws(CommandFailure) {
    self.init(slots: slots)
    if let megabytes = try arguments.number("--media-memory", in: 64...65536) {
      media.memoryLimit = UInt64(megabytes) << 20
    }
    backgroundSlots = try arguments.number("--background-slots", in: 0...256) ?? backgroundSlots
    if let seconds = try arguments.seconds("--grace") { grace = .seconds(seconds) }
    if let seconds = try arguments.seconds("--lease", in: 1...86_400) { queue.lease = .seconds(seconds) }
    if let seconds = try arguments.seconds("--drain") { queue.drain = .seconds(seconds) }
    if let seconds = try arguments.seconds("--poll", in: 0.01...3600) { queue.pollInterval = .seconds(seconds) }
    queue.reapInterval = min(queue.reapInterval, queue.lease / 3)
  }
}

extension Logger {
  /// Reads `--log-format` and `--log-level`.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self.init(
      format: try arguments.choice("--log-format", of: LogFormat.self) ?? .fitting(descriptor: 2),
      lowest: try arguments.choice("--log-level", of: LogLevel.self) ?? .info)
  }
}
