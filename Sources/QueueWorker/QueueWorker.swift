import Glibc
package import Logging
package import Metrics
import Platform
package import Postgres
package import Queue

/// Takes jobs from the queue and has them carried out.
///
/// Beside the jobs go signs of life on a connection of their own, the care for what others left behind, and an ear for
/// new jobs. Any number of workers share one queue. What the jobs are is the business of their handlers.
package final class QueueWorker: Sendable {
  private let configuration: QueueWorkerConfiguration
  private let database: DatabaseURL
  private let pool: Pool
  private let lines: [JobLine]
  private let chores: [Chore]
  private let onReaped: @Sendable ([Reaped], Session) throws -> Void
  private let log: Logger
  private let metrics: WorkMetrics
  private let held = HeldJobs()
  private let contexts = Locked<[LineContext]>([])
  private let threads = Locked<[ThreadWakeUp]>([])
  private let stopping = CancellationFlag()
  private let isEvicted = CancellationFlag()

  /// - Parameters:
  ///   - database: for the connections of its own: signs of life, listening, and short jobs.
  ///   - pool: for everything else.
  ///   - chores: what it does now and then beside the queue's own.
  ///   - onReaped: what follows when jobs are taken from a lost worker, in the same transaction.
  ///   - metrics: what is done is counted there.
  package init(
    configuration: QueueWorkerConfiguration, database: DatabaseURL, pool: Pool, lines: [JobLine],
    chores: [Chore] = [], onReaped: @escaping @Sendable ([Reaped], Session) throws -> Void = { _, _ in }, log: Logger,
    metrics: Metrics
  ) {
    self.configuration = configuration
    self.database = database.with(idleTransactionLimit: configuration.lease)
    self.pool = pool
    self.lines = lines
    self.chores = chores
    self.onReaped = onReaped
    self.log = log
    self.metrics = WorkMetrics(metrics)
  }

  /// Asks it to end: `run()` takes no new job and returns after the drain.
  package func stop() {
    stopping.cancel()
    wakeAll()
  }

  /// Works until `stop()`, or until it was taken for dead: then it must be made anew, under a new id.
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
    let heart = try Heart(
      worker: worker, configuration: configuration, database: database, held: held, log: log
    ) { [self] in
      isEvicted.cancel()
      wakeAll()
    }
    let maintenance = Maintenance(
      configuration: configuration, pool: pool, onReaped: onReaped, chores: chores, metrics: metrics,
      onAvailable: { [self] in wakeAll() }, log: log)
    var runs: [@Sendable () async throws -> Void] = []
    for line in lines { runs += try self.runs(of: line, worker, heart, log) }
    let listener = try listener()
    try listener?.start()
    log.info("worker started")
    // A stop that came before there was anybody to wake is heard by the first look of each line.
    let outcome = await withTaskGroup { group in
      group.addTask { await heart.run() }
      group.addTask { await maintenance.run() }
      group.addTask { await self.reportProgress() }
      let outcome = await work(runs)
      group.cancelAll()
      return outcome
    }
    try await onThread("listener-stop") { listener?.stop() }
    contexts.withLock { $0 = [] }
    threads.withLock { $0 = [] }
    log.info("worker ended")
    try outcome.get()
  }

  private func work(_ runs: [@Sendable () async throws -> Void]) async -> Result<Void, any Error> {
    do {
      try await withThrowingTaskGroup { group in
        for run in runs { group.addTask { try await run() } }
        try await group.waitForAll()
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func runs(
    of line: JobLine, _ worker: Int64, _ heart: Heart, _ log: Logger
  ) throws -> [@Sendable () async throws -> Void] {
    func context() -> LineContext {
      let context = LineContext(
        worker: worker, configuration: configuration, pool: pool, heart: heart, stopping: stopping,
        isEvicted: isEvicted, metrics: metrics, log: log)
      contexts.withLock { $0.append(context) }
      return context
    }
    switch line {
    case .long(let queue, let slots, let handler):
      let line = LongLine(queue: queue, slots: slots, handler: handler, context: context(), held: held)
      return [{ try await line.run() }]
    case .short(let queue, let group, let connections, let handler):
      return try (1...connections).map { number in
        let wake = try ThreadWakeUp()
        threads.withLock { $0.append(wake) }
        let line = ShortLine(
          queue: queue, limit: group, handler: handler,
          connection: try Connection(database, name: "short-\(number)"), context: context(), wake: wake)
        return { await line.run() }
      }
    }
  }

  /// For the long lines; the short ones hear for themselves, where they can.
  private func listener() throws(SystemError) -> Listener? {
    let isNeeded = database.pooling == .transaction || lines.contains { if case .long = $0 { true } else { false } }
    guard isNeeded else { return nil }
    return try Listener(database, channels: [QueueChannel.jobs]) { [self] _ in wakeAll() }
  }

  private func wakeAll() {
    for thread in threads.withLock({ $0 }) { thread.raise() }
    for context in contexts.withLock({ $0 }) { context.wake.raise() }
  }

  private func register() async throws -> Int64 {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let lease = configuration.lease / .seconds(1)
    return try await pool.run { session in
      try JobQueue.register(host: host, process: getpid(), leaseSeconds: lease, session)
    }
  }

  // A row that stays behind is swept once its lease is long over.
  private func deregister(_ worker: Int64) async {
    try? await pool.run { session in try JobQueue.deregister(worker: worker, session) }
  }

  /// Writes down how far the long jobs have come, at most twice a second.
  private func reportProgress() async {
    while !Task.isCancelled {
      for held in held.all {
        guard let progress = held.takeProgress() else { continue }
        try? await pool.run { session in try JobQueue.report(progress, of: held.job, session) }
      }
      try? await Task.sleep(for: .milliseconds(500))
    }
  }
}
