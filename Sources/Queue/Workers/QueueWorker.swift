import Glibc
import Model
import Platform
package import Postgres
package import Telemetry

/// A worker: it claims jobs from the queues that it consumes and hands each to the queue's handler.
///
/// In addition to jobs it runs the heartbeat, the maintenance when it is its turn, and a listener for new jobs. Any
/// number of workers share one database. A worker knows nothing of what its jobs do.
package final class QueueWorker: Sendable {
  private let configuration: QueueWorkerConfiguration
  private let database: DatabaseURL
  private let pool: Pool
  private let consumers: [ConsumerConfiguration]
  let tasks: [MaintenanceTask]
  private let tables: [SetAside.Table]
  private let onReaped: @Sendable ([Reaped], Session) throws -> Void
  private let onStart: @Sendable () -> Void
  private let log: Logger
  private let metrics: WorkerMetrics
  private let tracer: Tracer?
  private let held = HeldJobs()
  private let polling: Polling
  /// Wakes the maintenance that makes due jobs available.
  private let schedule = WakeUp()
  private let running = Locked<[JobConsumer]>([])
  private let stopping = CancellationFlag()
  private let isEvicted = CancellationFlag()

  /// - Parameters:
  ///   - database: for the worker's own connections: the heartbeat and the listener.
  ///   - pool: for all other statements.
  ///   - consumers: the queues that the worker claims from.
  ///   - tasks: maintenance in addition to the queue's own.
  ///   - tables: all that have rows which may be set aside.
  ///   - onReaped: runs in the transaction that reaps jobs.
  ///   - kinds: the kinds of jobs whose metrics begin with 0.
  ///   - tracer: nil: attempts are not traced.
  ///   - onStart: called when the worker is registered and begins to claim.
  package init(
    configuration: QueueWorkerConfiguration, database: DatabaseURL, pool: Pool, consumers: [ConsumerConfiguration],
    tasks: [MaintenanceTask] = [], settingAside tables: [SetAside.Table] = [],
    onReaped: @escaping @Sendable ([Reaped], Session) throws -> Void = { _, _ in },
    onStart: @escaping @Sendable () -> Void = {}, log: Logger, metrics: Metrics,
    kinds: [String] = [], tracer: Tracer? = nil
  ) {
    self.configuration = configuration
    polling = Polling(interval: configuration.pollInterval)
    self.database = database.with(idleTransactionLimit: configuration.lease)
    self.pool = pool
    self.consumers = consumers
    self.tasks = tasks
    self.tables = tables
    self.onReaped = onReaped
    self.onStart = onStart
    self.log = log
    self.metrics = WorkerMetrics(metrics)
    self.metrics.begin(kinds)
    self.tracer = tracer
  }

  /// Asks the worker to end: `run()` claims no more jobs and returns after the drain.
  package func stop() {
    stopping.cancel()
    wakeConsumers()
  }

  /// Works until `stop()`, or until the worker loses its lease; the caller then starts a new worker under a new id.
  package func run() async throws {
    let worker = try await register()
    do {
      try await run(as: worker, log: log.with(["worker": "\(worker)"]))
    } catch {
      await deregister(worker)
      throw error
    }
    await deregister(worker)
  }

  private func run(as worker: Int64, log: Logger) async throws {
    let heartbeat = try Heartbeat(
      worker: worker, configuration: configuration, database: database, held: held, log: log
    ) { [self] in
      isEvicted.cancel()
      wakeConsumers()
    }
    let maintenance = Maintenance(
      worker: worker, configuration: configuration, pool: pool, onReaped: onReaped, tasks: tasks, tables: tables,
      metrics: metrics,
      polling: polling, schedule: schedule, log: log)
    let context = WorkerContext(
      worker: worker, configuration: configuration, pool: pool, heartbeat: heartbeat, stopping: stopping,
      isEvicted: isEvicted, held: held, polling: polling, metrics: metrics, log: log, tracer: tracer)
    let consumers = consumers.map { JobConsumer($0, context: context) }
    running.withLock { $0 = consumers }
    let channels = [QueueChannel.jobs, QueueChannel.schedule] + Set(tasks.compactMap(\.channel)).sorted()
    let session = metrics.listeningSession(log)
    let listener = try Listener(database, channels: channels) { [self] report in
      session.note(report)
      note(report)
    }
    try listener?.start()
    log.info("worker started")
    onStart()
    // A stop that came before there were consumers to wake is seen when each checks the flag for the first time.
    let outcome = await withTaskGroup { group in
      group.addTask { await heartbeat.run() }
      group.addTask { await maintenance.run() }
      group.addTask { await self.reportProgress() }
      let outcome = await consume(consumers)
      group.cancelAll()
      return outcome
    }
    try await onThread("listener-stop") { listener?.stop() }
    running.withLock { $0 = [] }
    log.info("worker ended")
    try outcome.get()
  }

  private func consume(_ consumers: [JobConsumer]) async -> Result<Void, any Error> {
    do {
      try await withThrowingTaskGroup { group in
        for consumer in consumers { group.addTask { try await consumer.run() } }
        try await group.waitForAll()
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// Looks at what a report of the listener is about.
  private func note(_ report: Listener.Report) {
    switch report {
    case .notification(let notification) where notification.channel == QueueChannel.schedule: schedule.raise()
    case .notification(let notification) where notification.channel == QueueChannel.jobs:
      let call = JobCall(payload: notification.payload)
      // Services of earlier versions name the queue alone.
      for consumer in running.withLock({ $0 }) where consumer.queue == call?.queue ?? notification.payload {
        if let call { consumer.receive(call) } else { consumer.wake.raise() }
      }
    case .notification(let notification):
      for task in tasks where task.channel == notification.channel { task.wake.raise() }
    case .connected, .disconnected:
      // What happened before a connection was not reported, and nothing is after it.
      guard polling.setListening(report == .connected) else { return }
      wakeConsumers()
      schedule.raise()
      for task in tasks where task.channel != nil { task.wake.raise() }
    }
  }

  private func wakeConsumers() {
    for consumer in running.withLock({ $0 }) { consumer.wake.raise() }
  }

  private func register() async throws -> Int64 {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let lease = configuration.lease / .seconds(1)
    let slots = consumers.reduce(0) { $0 + $1.slots }
    return try await pool.run { session in
      try JobQueue.register(host: host, process: getpid(), leaseSeconds: lease, slots: slots, session)
    }
  }

  // Maintenance sweeps a row that stays behind once its lease is long over.
  private func deregister(_ worker: Int64) async {
    do {
      try await pool.run { session in try JobQueue.deregister(worker: worker, session) }
    } catch {
      log.warning("the worker could not be deregistered", ["error": "\(error)"])
    }
  }

  /// Stores the progress of running jobs, at most twice a second.
  private func reportProgress() async {
    while !Task.isCancelled {
      for held in held.all {
        guard let progress = held.takeProgress() else { continue }
        do {
          try await pool.run { session in try JobQueue.report(progress, of: held.job, session) }
        } catch {
          log.debug("progress could not be stored", ["job": held.job.publicID.description, "error": "\(error)"])
        }
      }
      try? await configuration.clock.sleep(for: .milliseconds(500))
    }
  }
}
