import Model
import Platform
import Postgres
import PostgresTesting
import Telemetry
import Testing
import WaitTesting

@testable import Queue

extension TestClock: WorkerClock {}

/// A queue in a database of its own, a registered worker, and a clock that the test turns.
struct ConsumerFixture {
  private static let template = TestTemplate(name: "job_consumers") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
    try session.executeScript("CREATE TABLE late (id int)", name: "late")
  }

  static let poll = Duration.milliseconds(250)

  let pool: Pool
  let url: DatabaseURL
  let clock: TestClock
  let worker: Int64

  static func with(_ body: (ConsumerFixture) async throws -> Void) async throws {
    try await withDatabase(template) { url in
      let pool = Pool(url, size: 4)
      let worker = try await pool.run { try JobQueue.register(host: "here", process: 1, leaseSeconds: 600, $0) }
      try await body(ConsumerFixture(pool: pool, url: url, clock: TestClock(), worker: worker))
      await pool.close()
    }
  }

  /// Enqueues jobs of the queue `media`.
  @discardableResult
  func enqueue(_ count: Int = 1, limit: JobLimit? = nil) async throws -> [PublicID] {
    let ids = (0..<count).map { _ in PublicID.now() }
    try await pool.run { session in
      for id in ids {
        var job = NewJob(publicID: id, queue: "media", kind: "post", deadlineSeconds: 60, arguments: Array("{}".utf8))
        job.limit = limit
        try JobQueue.enqueue(job, session)
      }
    }
    return ids
  }

  func claim(_ count: Int, _ number: ClaimNumber = ClaimNumber()) async throws -> [ClaimedJob] {
    try await pool.run { [worker] session in
      try JobQueue.claim(worker: worker, queue: "media", limit: count, number: number, session)
    }
  }

  func state(_ job: PublicID) async throws -> JobState? {
    try await pool.run { try JobQueue.find(job, $0)?.state }
  }

  /// - Parameter lease: of the worker; long unless the heartbeat is tested, because the test turns the clock.
  func configuration(lease: Duration = .seconds(1_000_000)) -> QueueWorkerConfiguration {
    var configuration = QueueWorkerConfiguration(lease: lease, pollInterval: Self.poll)
    configuration.clock = clock
    return configuration
  }

  func consumer(
    slots: Int = 1, lease: Duration = .seconds(1_000_000), unacknowledged: [ClaimNumber] = [],
    metrics: Metrics = Metrics(), tracer: Tracer? = nil, log: Logger = Logger { _ in }, _ handler: any JobHandler
  ) throws -> JobConsumer {
    let configuration = configuration(lease: lease)
    let held = HeldJobs()
    let heartbeat = try Heartbeat(worker: worker, configuration: configuration, database: url, held: held, log: log) {}
    let context = WorkerContext(
      worker: worker, configuration: configuration, pool: pool, heartbeat: heartbeat, stopping: CancellationFlag(),
      isEvicted: CancellationFlag(), held: held, polling: Polling(interval: configuration.pollInterval),
      metrics: WorkerMetrics(metrics), log: log, tracer: tracer)
    return JobConsumer(
      ConsumerConfiguration(queue: "media", slots: slots, handler: handler), context: context,
      unacknowledged: unacknowledged)
  }

  /// A handler that completes jobs.
  func completing(_ onEnd: @escaping @Sendable (HeldJob) -> Void) -> Handler {
    Handler { [pool] held in
      try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
      onEnd(held)
      return .healthy
    }
  }

  /// Runs the consumer while `body` runs, and then stops it.
  func running(_ consumer: JobConsumer, _ body: () async throws -> Void) async throws {
    async let running: Void = consumer.run()
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    consumer.context.stopping.cancel()
    consumer.wake.raise()
    for job in consumer.context.held.all { job.stop(.drained) }
    try await running
    try result.get()
  }

  /// Lets the consumer look at the queue this many times.
  func poll(_ times: Int) async throws {
    try await clock.sleepers()
    for _ in 0..<times {
      clock.advance(by: Self.poll)
      try await clock.sleepers()
    }
  }
}

struct Handler: JobHandler {
  var takesJobs = Shared(true)
  let body: @Sendable (HeldJob) async throws -> ServiceHealth

  init(_ body: @escaping @Sendable (HeldJob) async throws -> ServiceHealth) { self.body = body }

  var takesMore: Bool { takesJobs.withLock { $0 } }

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    do {
      return try await body(held)
    } catch {
      Issue.record(error)
      return .healthy
    }
  }
}

extension HeldJob {
  /// Waits until the attempt is asked to stop.
  func stopRequest() async throws -> StopReason? {
    try await until { cancellation.isCancelled }
    return stopReason
  }
}
