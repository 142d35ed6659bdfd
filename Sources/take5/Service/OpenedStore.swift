import Blobs
import Platform
import QueueWorker
import Store
import Tracing
import Worker

/// What a service or a worker opens before its work: the database and the blobs, and the tracer that records their use.
struct OpenedStore: Sendable {
  let database: DatabaseAccess
  let tracer: Tracer?
  let blobs: any InspectableBlobStore
  let store: Store

  /// - Parameter connections: those to the database in addition to one for each job.
  static func open(
    _ arguments: Arguments, _ configuration: ServiceConfiguration, _ process: ServiceProcess, connections: Int,
    isCreating: Bool = false
  ) async throws -> OpenedStore {
    let (worker, log, metrics) = (configuration.worker, process.log, process.metrics)
    let database = try await DatabaseAccess.open(
      arguments, connections: worker.slots + worker.backgroundSlots + connections, schema: .migrating,
      isCreating: isCreating, lease: worker.queue.lease, log: log)
    process.signals.beforeEndingAtOnce { database.stopServer() }
    try await database.logListening(log)
    let tracer = try TraceOptions.tracer(arguments, metrics, log)
    let blobs = try await BlobOptions.open(arguments, database, isCreating: isCreating) { exchange in
      metrics.count(exchange)
      tracer?.record(exchange)
    }
    let store = Store(
      blobs: blobs, authorConcurrency: configuration.authorConcurrency, keepRejected: configuration.keepRejected)
    return OpenedStore(database: database, tracer: tracer, blobs: blobs, store: store)
  }

  func close() async {
    await database.close()
    await tracer?.stop()
  }
}
