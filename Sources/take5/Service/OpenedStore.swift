import Blobs
import Kit
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

  /// Opens the database, as soon as it is there, and the blobs, which may come later.
  ///
  /// - Parameters:
  ///   - files: what a worker of this process sends notifications with.
  ///   - connections: those to the database in addition to one for each job.
  ///   - isServing: whether a missing store is created, and uploads in former folders are taken.
  ///   - onWait: called when a wait for the database begins.
  /// - Returns: nil if the process is asked to end while it waits.
  static func open(
    _ arguments: Arguments, _ configuration: ServiceConfiguration, _ files: PushOptions.Files,
    _ process: ServiceProcess, _ tracer: Tracer?, connections: Int, isServing: Bool = false,
    onWait: @escaping @Sendable () throws -> Void = {}
  ) async throws -> OpenedStore? {
    let (worker, log, metrics) = (configuration.worker, process.log, process.metrics)
    let refusals = StoreRefusals(log)
    let places = try BlobOptions.places(arguments, isCreating: isServing) { exchange in
      metrics.count(exchange)
      tracer?.record(exchange)
      refusals.note(exchange)
    }
    let push = try worker.slots > 0 ? PushOptions.courier(files, metrics, log) : nil
    let isPushing = push != nil
    let found = try await process.awaitingDatabase(onWait: onWait) {
      let database = try await DatabaseAccess.open(
        arguments,
        connections: worker.slots + worker.lookSlots + worker.backgroundSlots + connections + (isPushing ? 2 : 0),
        schema: .migrating, isCreating: isServing, lease: worker.queue.lease, log: log)
      process.signals.beforeEndingAtOnce { database.stopServer() }
      do {
        try await database.logListening(log)
        try await checkWindow(arguments, configuration.api.windowSchedule, database.pool, log)
      } catch {
        await database.close()
        throw error
      }
      return database
    }
    guard let database = found else {
      push?.stop()
      await tracer?.stop()
      return nil
    }
    let blobs: AwaitedBlobStore
    do {
      blobs = try await BlobWait(places: places, pool: database.pool, process: process) { blobs in
        if isServing { try places.takeUploads(blobs) }
      }.begin()
    } catch {
      push?.stop()
      await database.close()
      await tracer?.stop()
      throw error
    }
    let store = Store(
      blobs: blobs, rooms: .all, authorConcurrency: configuration.authorConcurrency,
      keepRejected: configuration.keepRejected, releasedPause: configuration.releasedPause,
      minFree: configuration.api.minFree)
    return OpenedStore(database: database, tracer: tracer, blobs: blobs, store: store, push: push)
  }

  /// Refuses a time zone that the database does not know, and reports that the store has another schedule of the window.
  private static func checkWindow(
    _ arguments: Arguments, _ schedule: WindowSchedule?, _ pool: Pool, _ log: Logger
  ) async throws {
    let (isKnown, last) = try await pool.run { session in
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
    RoomProgram.all.compactMap { $0.courier?(configuration, log) } + (push.map { [$0] } ?? [])
  }

  /// Runs `body`, and closes the store after it, also if it fails: an embedded database shuts down in order.
  func use<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      await close()
      return result
    } catch {
      await close()
      throw error
    }
  }

  private func close() async {
    push?.stop()
    await database.close()
    await tracer?.stop()
  }
}
