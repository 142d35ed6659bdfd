import Blobs
import Model
import Platform
import Postgres
import Queue
import Rooms
import Store
import Telemetry
import Worker

/// What a service or a worker opens before its work: the database and the blobs, and the tracer that records their use.
struct OpenedStore: Sendable {
  let database: DatabaseAccess
  let tracer: Tracer?
  let blobs: any InspectableBlobStore
  let store: Store
  /// What sends notifications; nil: this process has no credentials for that.
  let push: PushCourier?

  /// - Parameters:
  ///   - files: what a worker of this process sends notifications with.
  ///   - connections: those to the database in addition to one for each job.
  static func open(
    _ arguments: Arguments, _ configuration: ServiceConfiguration, _ files: PushOptions.Files,
    _ process: ServiceProcess, connections: Int, isCreating: Bool = false
  ) async throws -> OpenedStore {
    let (worker, log, metrics) = (configuration.worker, process.log, process.metrics)
    let push = try worker.slots > 0 ? PushOptions.courier(files, metrics, log) : nil
    let database = try await DatabaseAccess.open(
      arguments,
      connections: worker.slots + worker.lookSlots + worker.backgroundSlots + connections + (push == nil ? 0 : 2),
      schema: .migrating,
      isCreating: isCreating, lease: worker.queue.lease, log: log)
    process.signals.beforeEndingAtOnce { database.stopServer() }
    try await database.logListening(log)
    let tracer = try TraceOptions.tracer(arguments, metrics, log)
    let refusals = StoreRefusals(log)
    let blobs = try await BlobOptions.open(arguments, database, isCreating: isCreating) { exchange in
      metrics.count(exchange)
      tracer?.record(exchange)
      refusals.note(exchange)
    }
    let store = Store(
      blobs: blobs, rooms: .all, authorConcurrency: configuration.authorConcurrency,
      keepRejected: configuration.keepRejected)
    let opened = OpenedStore(database: database, tracer: tracer, blobs: blobs, store: store, push: push)
    do { try await opened.checkWindow(arguments, configuration.api.windowSchedule, log) } catch {
      await opened.close()
      throw error
    }
    return opened
  }

  /// Refuses a time zone that the database does not know, and reports that the store has another schedule of the window.
  private func checkWindow(_ arguments: Arguments, _ schedule: WindowSchedule?, _ log: Logger) async throws {
    let (isKnown, last) = try await database.pool.run { session in
      (try schedule.map { try KnownTimeZones().contain($0.zone, session) }, try Window.scheduled(session))
    }
    if let last, last.isOperators {
      let isOther = schedule.map { $0.description != last.schedule } ?? false
      log.info(
        "the daily window opens by the schedule of operators" + (isOther ? ", not by --window" : ""),
        ["schedule": last.schedule])
    } else if isKnown == nil, let last, last.isInUse {
      log.warning("without --window, this process does not open the daily window", ["schedule": last.schedule])
    }
    guard isKnown == false, let schedule, let setting = arguments.setting("--window") else { return }
    throw CommandFailure(
      setting.source.status, "--window: unknown time zone '\(schedule.zone)'",
      remedy: "use a name such as Europe/Berlin")
  }

  /// What the worker of this process does for the app's rooms by options.
  func tasks(_ configuration: ServiceConfiguration, _ log: Logger) -> [MaintenanceTask] {
    Window.opening(by: configuration.api.windowSchedule, pause: configuration.worker.queue.pollInterval, log)
      + (push.map { [$0.announcing] } ?? [])
  }

  /// What sends to receivers outside, by options.
  func couriers(_ configuration: ServiceConfiguration, _ log: Logger, _ metrics: Metrics) throws -> [any Courier] {
    let webhooks: any Courier = WebhookCourier(permits: configuration.api.webhookPermits, log)
    return [webhooks] + (push.map { [$0] } ?? [])
  }

  func close() async {
    push?.stop()
    await database.close()
    await tracer?.stop()
  }
}
