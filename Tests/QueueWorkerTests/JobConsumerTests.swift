import Logging
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@testable import QueueWorker

@Suite("Job consumers", .tags(.database), .timeLimit(.minutes(2)))
struct JobConsumerTests {
  @Test(
    "jobs of lost replies beyond the free slots are released, even if their claim commits late, and every job ends")
  func unacknowledged() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in for _ in 0..<6 { try JobQueue.enqueue(job(), session) } }
      let worker = try await pool.run { try JobQueue.register(host: "here", process: 1, leaseSeconds: 600, $0) }
      let leases = (0..<3).map { _ in Lease() }
      // Two claims whose replies were lost; a third reaches the server after it was looked up.
      try await pool.run { session in
        for lease in leases.prefix(2) {
          let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, lease: lease, session)
          #expect(claimed.count == 2)
        }
      }
      let (started, late, allEnded) = (Shared(0), OneShot<Void>(), OneShot<Void>())
      let handler = Handler { held in
        if started.withLock({
          $0 += 1; return $0
        }) == 1 {
          late.fulfil(())
        }
        // No slot is free before the third claim has committed.
        while try await pool.run({ try $0.execute("SELECT FROM late").isEmpty }) { await Task.yield() }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        if try await pool.run({ try $0.execute("SELECT FROM job").isEmpty }) { allEnded.fulfil(()) }
        return .healthy
      }
      let consumer = try consumer(worker, pool, url, handler, slots: 2, unacknowledged: UnacknowledgedClaims(leases))
      async let running: Void = consumer.run()
      await late.value
      try await pool.run { session in
        let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, lease: leases[2], session)
        #expect(claimed.count == 2)
        try session.execute("INSERT INTO late VALUES (1)")
      }
      await allEnded.value
      consumer.context.stopping.cancel()
      consumer.wake.raise()
      try await running
      try await pool.run { session in
        let done = try JobQueue.list(JobFilter(states: [.completed], limit: 100), session)
        #expect(done.count == 6 && done.allSatisfy { $0.attempt == 1 && $0.lost == 0 })
      }
      #expect(started.withLock { $0 } == 6)
    }
  }

  @Test("during an outage the queue is paused, one job at a time tries, and none loses an attempt")
  func outage() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in for _ in 0..<8 { try JobQueue.enqueue(job(), session) } }
      let worker = try await pool.run { try JobQueue.register(host: "here", process: 1, leaseSeconds: 600, $0) }
      let (tries, allEnded) = (Shared(0), OneShot<Void>())
      let handler = Handler { held in
        let number = tries.withLock { count in
          count += 1
          return count
        }
        // Both slots fail, and then one job that tries.
        if number <= 3 {
          try await pool.transaction { try JobQueue.postpone(held.job, seconds: 0, error: "no storage", $0) }
          return .outage(Outage("no storage"))
        }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        if try await pool.run({ try $0.execute("SELECT FROM job").isEmpty }) { allEnded.fulfil(()) }
        return .healthy
      }
      let metrics = Metrics()
      let log = Shared<[String]>([])
      let logger = Logger { line in log.withLock { $0.append(line) } }
      let consumer = try consumer(worker, pool, url, handler, slots: 2, metrics: metrics, log: logger)
      async let running: Void = consumer.run()
      async let promoting: Void = promote(pool, until: allEnded)
      await allEnded.value
      consumer.context.stopping.cancel()
      consumer.wake.raise()
      _ = try await (running, promoting)
      #expect(tries.withLock { $0 } == 11)
      try await pool.run { session in
        let done = try JobQueue.list(JobFilter(states: [.completed], limit: 100), session)
        #expect(done.count == 8 && done.allSatisfy { $0.attempt == 1 })
      }
      let lines = log.withLock { $0 }
      #expect(lines.count { $0.contains("the queue is paused") } == 2)
      #expect(lines.count { $0.contains("the queue resumes") } == 1)
      #expect(metrics.text().contains(#"take5_queue_paused{queue="media"} 0"#))
    }
  }

  // MARK: Support

  private struct Handler: JobHandler {
    let body: @Sendable (HeldJob) async throws -> ServiceHealth

    func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
      do {
        return try await body(held)
      } catch {
        Issue.record(error)
        return .healthy
      }
    }
  }

  private func promote(_ pool: Pool, until allEnded: OneShot<Void>) async throws {
    while try await pool.run({ session in
      _ = try JobQueue.promote(session)
      return try !session.execute("SELECT FROM job").isEmpty
    }) { await Task.yield() }
  }

  private static let template = TestTemplate(name: "job_consumers") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try JobQueue.prepareHistory(session)
    try session.executeScript("CREATE TABLE late (id int)", name: "late")
  }

  private func withQueue(_ body: @escaping @Sendable (Pool, DatabaseURL) async throws -> Void) async throws {
    try await withDatabase(Self.template) { url in
      let pool = Pool(url, size: 4)
      try await body(pool, url)
      await pool.close()
    }
  }

  private func job() -> NewJob {
    NewJob(publicID: .now(), queue: "media", kind: "post", deadlineSeconds: 60, arguments: Array("{}".utf8))
  }

  private func consumer(
    _ worker: Int64, _ pool: Pool, _ url: DatabaseURL, _ handler: Handler, slots: Int,
    unacknowledged: UnacknowledgedClaims = UnacknowledgedClaims(), metrics: Metrics = Metrics(),
    log: Logger = Logger { _ in }
  ) throws -> JobConsumer {
    let configuration = QueueWorkerConfiguration(lease: .seconds(600), pollInterval: .milliseconds(20))
    let held = HeldJobs()
    let heartbeat = try Heartbeat(worker: worker, configuration: configuration, database: url, held: held, log: log) {}
    let context = WorkerContext(
      worker: worker, configuration: configuration, pool: pool, heartbeat: heartbeat, stopping: CancellationFlag(),
      isEvicted: CancellationFlag(), held: held, metrics: WorkerMetrics(metrics), log: log)
    return JobConsumer(
      ConsumerConfiguration(queue: "media", slots: slots, handler: handler), context: context,
      unacknowledged: unacknowledged)
  }
}

extension Tag {
  /// Uses the PostgreSQL server of the test run.
  @Tag static var database: Self
}
