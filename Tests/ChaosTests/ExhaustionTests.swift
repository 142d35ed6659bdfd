import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Telemetry
import Testing
import WaitTesting

@testable import ChaosTesting

@Suite("an exhausted connection pool", .tags(.chaos), .timeLimit(.minutes(60)))
struct ExhaustionTests {
  private struct Handler: JobHandler {
    let pool: Pool
    let done: Shared<Int>

    func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
      try? await pool.transaction { session in
        try JobQueue.complete(held.job, .accepted, result: nil, session)
      }
      done.withLock { $0 += 1 }
      return .healthy
    }
  }

  @Test("without a free connection, an application gets an error, and a worker waits and keeps its jobs and its lease")
  func pool() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let pool = Pool(run.database, size: 2, timeout: .milliseconds(100))
      let done = Shared(0)
      let complaint = OneShot<String>()
      let log = Logger { line in if line.contains("no job could be claimed") { complaint.fulfil(line) } }
      let worker = QueueWorker(
        configuration: QueueWorkerConfiguration(lease: .seconds(2), pollInterval: .milliseconds(50)),
        database: run.database, pool: pool,
        consumers: [
          ConsumerConfiguration(queue: ChaosJob.longQueue, slots: 2, handler: Handler(pool: pool, done: done))
        ], log: log,
        metrics: Metrics())
      async let running: Void = worker.run()
      try await until { try await !run.pool.run({ try $0.execute("SELECT FROM worker").isEmpty }) }

      // Both connections are in use for longer than the timeout of the pool.
      let gate = Channel<Int>(capacity: 1)
      let held = Shared(0)
      try await withThrowingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            _ = try await pool.run(timeout: .seconds(60)) { _ in
              held.withLock { $0 += 1 }
              _ = gate.take()
            }
          }
        }
        try await until { held.withLock { $0 } == 2 }
        try await run.enqueue([ChaosJob](repeating: ChaosJob(ChaosJob.longQueue), count: 5))
        let error = await #expect(throws: PostgresError.self) {
          try await pool.run { session in try JobQueue.notify(queue: ChaosJob.longQueue, session) }
        }
        #expect(error?.isExhausted == true)
        #expect(error?.remedy?.contains("pool") == true)
        #expect(await complaint.value.contains("all 2 connections were busy"))
        #expect(done.withLock { $0 } == 0)
        gate.close()
        try await group.waitForAll()
      }
      #expect(await run.isFinished(within: .seconds(60)))
      worker.stop()
      try await running
      let attempts = try await run.evidence().transitions.filter { $0.to == "x" }
      #expect(attempts.count == 5)
      #expect(Set(attempts.map(\.worker)).count == 1, "it lost its lease")
      await pool.close()
    }
  }
}
