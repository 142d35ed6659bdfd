import ChaosTesting
import Glibc
import Platform
import PostgresTesting
import Testing

@Suite("Wrong clocks", .tags(.chaos), .timeLimit(.minutes(5)))
struct ClockTests {
  @Test("the queue goes by the server's clock: workers a day ahead and a day behind work as any other")
  func skewed() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      let day = 86_400
      let producers = try [day, -day].map { skew in
        try run.producer("producer\(skew)", jobs: 60, batch: 10, seed: UInt64(skew > 0 ? 1 : 2), clockSkew: skew)
      }
      // The first is frozen past its lease at its third job, and the other takes over.
      let ahead = try run.worker("ahead", failpoints: "chaos.effect.before=stop@3", clockSkew: day)
      #expect(await ahead.child.isStopped(within: .seconds(60)))
      let behind = try run.worker("behind", clockSkew: -day)
      for producer in producers { #expect(await producer.child.end(within: .seconds(60)) == .exited(0)) }
      #expect(await run.isOver(within: .seconds(60)))
      for member in [ahead, behind] { #expect(await member.end(within: .seconds(60)) == .exited(0)) }
      let evidence = try await run.evidence()
      #expect(Check.violations(in: evidence) == [])
      // Their clocks were indeed off.
      let far = evidence.ledger.filter { abs($0.moment.wall - Moment.now.wall) > 80_000_000_000 }
      #expect(Set(far.map(\.process)).isSuperset(of: [ahead.process, behind.process]))
    }
  }
}
