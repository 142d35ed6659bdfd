import ChaosTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@Suite("A crash of PostgreSQL", .tags(.chaos), .timeLimit(.minutes(5)))
struct CrashTests {
  @Test("a claim that the crash forgot gives nobody authority over the next one")
  func forgottenClaim() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      // What is not waited for is written down so late that the crash comes first.
      _ = try await run.pool.run { session in
        try session.executeScript("ALTER SYSTEM SET wal_writer_delay = '10s'", name: "late")
        return try session.execute("SELECT pg_reload_conf()").count
      }
      try await run.enqueue([ChaosJob](repeating: ChaosJob(ChaosJob.shortQueue), count: 3))
      let zombie = try await claim(run)
      try await fixture.server.crash()
      try await fixture.server.restart()
      let heir = try await claim(run)
      #expect(heir.jobs.map(\.publicID) == zombie.jobs.map(\.publicID), "the claim was not forgotten")
      #expect(heir.jobs.allSatisfy { $0.attempt == 1 })
      try await run.pool.run { session in
        #expect(throws: LeaseLost.self) { try JobQueue.settle(zombie, [:], session) }
        try JobQueue.settle(heir, [:], session)
      }
    }
  }

  @Test("what a producer was told is committed is there afterwards, with its job")
  func committed() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let producer = try run.producer("producer", jobs: 300, batch: 10, live: 1000, operates: 1000, seed: 1)
      while await run.live() ?? 0 < 100 {}
      try run.note(fault: .crash, nil)
      try await fixture.server.crash()
      try await fixture.server.restart()
      try run.note(relief: .crash, nil)
      #expect(await producer.child.end(within: .seconds(60)) == .exited(0))
      let worker = try run.worker("worker")
      #expect(await run.isOver(within: .seconds(60)))
      #expect(await worker.end(within: .seconds(60)) == .exited(0))
      #expect(Check.violations(in: try await run.evidence()) == [])
    }
  }

  private func claim(_ run: ChaosRun) async throws -> GroupClaim {
    try await run.pool.run { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try #require(try JobQueue.claimGroup(worker: worker, queue: ChaosJob.shortQueue, limit: 9, session))
    }
  }
}
