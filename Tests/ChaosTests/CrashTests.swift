import ChaosTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@Suite("A crash of PostgreSQL", .tags(.chaos), .timeLimit(.minutes(5)))
struct CrashTests {
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
}
