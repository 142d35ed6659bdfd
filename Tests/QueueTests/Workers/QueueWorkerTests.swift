import Model
import Platform
import Postgres
import PostgresTesting
import Telemetry
import Testing
import WaitTesting

@testable import Queue

@Suite("Workers", .tags(.database), .timeLimit(.minutes(60)))
struct WorkerLifeTests {
  /// A worker with one slot; no other worker runs.
  private func worker(_ fixture: ConsumerFixture, _ handler: Handler) async throws -> QueueWorker {
    try await fixture.pool.run { try JobQueue.deregister(worker: fixture.worker, $0) }
    return QueueWorker(
      configuration: fixture.configuration(), database: fixture.url, pool: fixture.pool,
      consumers: [ConsumerConfiguration(queue: "media", slots: 1, handler: handler)], log: Logger { _ in },
      metrics: Metrics())
  }

  private func count(_ fixture: ConsumerFixture, _ statement: Statement) async throws -> Int {
    try await fixture.pool.run { Int(try $0.execute(statement).single().get(0, as: Int64.self)) }
  }

  @Test("the progress of a running job is stored, and a worker that ends leaves no row")
  func progress() async throws {
    try await ConsumerFixture.with { fixture in
      try await fixture.enqueue()
      let isStored = CancellationFlag()
      let handler = Handler { [pool = fixture.pool] held in
        held.advance(to: JobProgress(fraction: 0.5, stage: "compose"))
        try await until { isStored.isCancelled }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        return .healthy
      }
      let worker = try await worker(fixture, handler)
      async let running: Void = worker.run()
      try await until {
        fixture.clock.advance(by: .milliseconds(500))
        return try await count(fixture, "SELECT count(*) FROM job_progress WHERE fraction = 0.5") != 0
      }
      isStored.cancel()
      worker.stop()
      try await running
      #expect(try await count(fixture, "SELECT count(*) FROM worker") == 0)
      #expect(try await count(fixture, "SELECT count(*) FROM job_done") == 1)
    }
  }

  @Test("of many workers that never poll each job has one at once, also several that are called by one notification")
  func calls() async throws {
    try await ConsumerFixture.with { fixture in
      try await fixture.pool.run { try JobQueue.deregister(worker: fixture.worker, $0) }
      let pool = Pool(fixture.url, size: 12)
      var configuration = QueueWorkerConfiguration()
      configuration.pollInterval = .seconds(100_000)
      let workers = (0..<6).map { [configuration] _ in
        QueueWorker(
          configuration: configuration, database: fixture.url, pool: pool,
          consumers: [
            ConsumerConfiguration(
              queue: "media", slots: 1,
              handler: Handler { held in
                try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
                return .healthy
              })
          ], log: Logger { _ in }, metrics: Metrics())
      }
      let running = workers.map { worker in Task { try await worker.run() } }
      func done(_ jobs: Int) async throws -> Bool { try await count(fixture, "SELECT count(*) FROM job_done") == jobs }
      // The first look of each worker finds nothing.
      try await until { try await count(fixture, "SELECT count(*) FROM worker") == 6 }
      try await until {
        try await count(
          fixture, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()")
          == 6
      }
      for job in 1...20 {
        try await fixture.enqueue()
        try await fixture.pool.run { try JobQueue.notify(queue: "media", $0) }
        try await until { try await done(job) }
      }
      try await fixture.enqueue(40)
      try await fixture.pool.run { try JobQueue.notify(queue: "media", $0) }
      try await until { try await done(60) }
      // A service of an earlier version names the queue alone.
      try await fixture.enqueue()
      try await fixture.pool.run { _ = try $0.execute("SELECT pg_notify('\(QueueChannel.jobs)', 'media')") }
      try await until { try await done(61) }
      for worker in workers { worker.stop() }
      for task in running { try await task.value }
      await pool.close()
    }
  }

  @Test("a worker whose row is gone ends, so that its caller starts another one")
  func evicted() async throws {
    try await ConsumerFixture.with { fixture in
      try await fixture.enqueue()
      let hasStarted = CancellationFlag()
      let handler = Handler { held in
        hasStarted.cancel()
        let reason = try await held.stopRequest()
        #expect(reason == .leaseLost)
        return .unknown
      }
      let worker = try await worker(fixture, handler)
      let hasEnded = CancellationFlag()
      let running = Task {
        defer { hasEnded.cancel() }
        try await worker.run()
      }
      try await until { hasStarted.isCancelled }
      try await fixture.pool.run { _ = try $0.execute("DELETE FROM worker") }
      try await fixture.clock.turn { hasEnded.isCancelled }
      try await running.value
    }
  }
}
