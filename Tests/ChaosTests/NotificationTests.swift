import ChaosTesting
import Platform
import Postgres
import PostgresTesting
import Testing

@Suite("Lost notifications", .tags(.chaos), .timeLimit(.minutes(5)))
struct NotificationTests {
  @Test("a job that nobody told of is taken all the same, also while the connection that listens is gone")
  func lost() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let worker = try run.worker("worker")
      while try await listeners(run, "SELECT pid").isEmpty {}
      _ = try await listeners(run, "SELECT pg_terminate_backend(pid)::int")
      // Jobs are enqueued here and not announced.
      for queue in [ChaosJob.longQueue, ChaosJob.shortQueue] {
        try await run.enqueue([ChaosJob(queue)])
        #expect(await run.isOver(within: .seconds(60)))
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
