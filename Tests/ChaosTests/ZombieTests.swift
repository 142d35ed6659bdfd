import ChaosTesting
import Glibc
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@Suite("Who comes back after his lease was given away", .tags(.chaos), .timeLimit(.minutes(5)))
struct ZombieTests {
  @Test("his transaction rolls back, with the effect that it had written")
  func rollsBack() async throws {
    try await ChaosFixture.with { fixture in
      try await fixture.run.enqueue([ChaosJob(ChaosJob.longQueue)])
      try await fixture.run.pool.run { session in
        func write(_ job: ClaimedJob) throws {
          try session.transaction { session in
            try session.execute(
              ChaosSchema.statements["effect"], .text(job.publicID.description), .integer(job.token))
            try JobQueue.complete(job, .accepted, result: nil, session)
          }
        }
        func claim() throws -> ClaimedJob {
          let worker = try JobQueue.register(host: "here", process: 1, session)
          return try #require(
            try JobQueue.claim(worker: worker, queue: ChaosJob.longQueue, limit: 1, session).first)
        }
        let zombie = try claim()
        try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
        #expect(try JobQueue.reap(session).map(\.id) == [zombie.id])
        #expect(try JobQueue.retryNow(zombie.publicID, session))
        // Before the other has done it, and after.
        let heir = try claim()
        #expect(throws: LeaseLost.self) { try write(zombie) }
        try write(heir)
        #expect(throws: LeaseLost.self) { try write(zombie) }
        let effects = try session.execute(ChaosSchema.statements["effects"])
        #expect(try effects.map { try $0.get("token", as: Int64.self) } == [heir.token])
      }
    }
  }

  @Test("a worker that is frozen past its lease goes on with a job that another has done, and leaves no trace")
  func frozen() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      try await run.enqueue([ChaosJob(ChaosJob.longQueue)])
      // It knows what it was given, and stands still before it begins.
      let zombie = try run.worker("zombie", failpoints: "queue.claim.after=stop")
      #expect(await zombie.child.isStopped(within: .seconds(60)))
      let heir = try run.worker("heir")
      #expect(await run.isOver(within: .seconds(60)))
      zombie.child.kill(SIGCONT)
      // It has come so far as to give up its id and to come back under another one.
      #expect(await workers(run, atLeast: 3))
      for member in [zombie, heir] { #expect(await member.end(within: .seconds(60)) == .exited(0)) }
      let evidence = try await run.evidence()
      #expect(Check.violations(in: evidence) == [])
      #expect(evidence.effects.count == 1)
      let attempts = Array(Attempt.all(evidence.passages, fates: evidence.fatesByJob).values.joined())
      #expect(attempts.count == 2)
      #expect(attempts.first?.ending != .itself)
      #expect(attempts.last?.ending == .itself)
      #expect(evidence.effects.first?.token == attempts.last?.token)
    }
  }

  private func workers(_ run: ChaosRun, atLeast count: Int) async -> Bool {
    for _ in 0..<600 {
      let now = try? await run.pool.run { try $0.execute("SELECT FROM chaos_worker").count }
      if let now, now >= count { return true }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return false
  }
}
