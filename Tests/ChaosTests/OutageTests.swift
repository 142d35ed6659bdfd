import Glibc
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@testable import ChaosTesting

@Suite("a crash of PostgreSQL", .tags(.chaos), .timeLimit(.minutes(60)))
struct CrashTests {
  @Test("transactions that were acknowledged to a producer exist after the crash, with their jobs")
  func committed() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let producer = try run.producer("producer", jobs: 300, batch: 10, live: 1000, operates: 1000, seed: 1)
      try await until { await run.live() ?? 0 >= 100 }
      try await run.crash()
      #expect(await producer.child.end(within: .seconds(60)) == .exited(0))
      let worker = try run.worker("worker")
      #expect(await run.isFinished(within: .seconds(60)))
      #expect(await worker.end(within: .seconds(60)) == .exited(0))
      #expect(Check.violations(in: try await run.evidence()) == [])
    }
  }
}

@Suite("lost notifications", .tags(.chaos), .timeLimit(.minutes(60)))
struct NotificationTests {
  @Test("a job without a notification is claimed, also while the listener's connection is lost")
  func lost() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let worker = try run.worker("worker")
      try await until { try await !listeners(run, "SELECT pid").isEmpty }
      _ = try await listeners(run, "SELECT pg_terminate_backend(pid)::int")
      // `enqueue` does not notify.
      for queue in [ChaosJob.longQueue, ChaosJob.shortQueue] {
        try await run.enqueue([ChaosJob(queue)])
        #expect(await run.isFinished(within: .seconds(60)))
      }
      #expect(await worker.end(within: .seconds(60)) == .exited(0))
      #expect(Check.violations(in: try await run.evidence()) == [])
    }
  }

  private func listeners(_ run: ChaosRun, _ what: String) async throws -> [Int] {
    try await run.pool.run { session in
      try session.execute(
        Statement(
          name: "test",
          text: "\(what) FROM pg_stat_activity WHERE application_name = 'worker' AND query LIKE 'LISTEN%'")
      ).map { try $0.get(0, as: Int.self) }
    }
  }
}

@Suite("wrong clocks", .tags(.chaos), .timeLimit(.minutes(60)))
struct ClockTests {
  @Test("workers whose clocks are a day ahead or behind work normally, because the queue uses the server's clock")
  func skewed() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let day = 86_400
      let producers = try [day, -day].map { skew in
        try run.producer("producer\(skew)", jobs: 60, batch: 10, seed: UInt64(skew > 0 ? 1 : 2), clockSkew: skew)
      }
      // The first worker is frozen at its third job, and the second one takes over.
      let ahead = try run.worker("ahead", failpoints: "chaos.effect.before=stop@3", clockSkew: day)
      #expect(await ahead.child.isStopped(within: .seconds(60)))
      let behind = try run.worker("behind", clockSkew: -day)
      for producer in producers { #expect(await producer.child.end(within: .seconds(60)) == .exited(0)) }
      #expect(await run.isFinished(within: .seconds(60)))
      for participant in [ahead, behind] { #expect(await participant.end(within: .seconds(60)) == .exited(0)) }
      let evidence = try await run.evidence()
      #expect(Check.violations(in: evidence) == [])
      // The clocks of both were wrong.
      let skewed = evidence.ledger.filter { abs($0.time.wall - ClockReading.now.wall) > 80_000_000_000 }
      #expect(Set(skewed.map(\.process)).isSuperset(of: [ahead.process, behind.process]))
    }
  }
}
