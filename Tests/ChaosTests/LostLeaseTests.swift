import Glibc
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@testable import ChaosTesting

@Suite("a worker that resumes after its lease was lost", .tags(.chaos), .timeLimit(.minutes(60)))
struct LostLeaseTests {
  @Test("its transaction rolls back together with the effect")
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
        let frozen = try claim()
        try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
        #expect(try JobQueue.reap(session).map(\.id) == [frozen.id])
        #expect(try JobQueue.retryNow(frozen.publicID, session))
        // The write fails both before and after the other worker has ended the job.
        let rescuer = try claim()
        #expect(throws: LeaseLost.self) { try write(frozen) }
        try write(rescuer)
        #expect(throws: LeaseLost.self) { try write(frozen) }
        let effects = try session.execute(ChaosSchema.statements["effects"])
        #expect(try effects.map { try $0.get("token", as: Int64.self) } == [rescuer.token])
      }
    }
  }

  @Test("a worker that was frozen for longer than its lease has no effect on a job that another one has completed")
  func freeze() async throws {
    try await ChaosFixture.with { fixture in
      let run = fixture.run
      try await run.enqueue([ChaosJob(ChaosJob.longQueue)])
      // The worker has claimed the job and is stopped before its effect.
      let frozen = try run.worker("frozen", failpoints: "chaos.effect.before=stop")
      #expect(await frozen.child.isStopped(within: .seconds(60)))
      let rescuer = try run.worker("rescuer")
      #expect(await run.isFinished(within: .seconds(60)))
      frozen.child.kill(SIGCONT)
      // The worker has found that its lease is lost and has registered under a new id.
      try await until { try await run.pool.run { try $0.execute("SELECT FROM chaos_worker").count } >= 3 }
      for participant in [frozen, rescuer] { #expect(await participant.end(within: .seconds(60)) == .exited(0)) }
      let evidence = try await run.evidence()
      #expect(Check.violations(in: evidence) == [])
      #expect(evidence.effects.count == 1)
      let attempts = Array(Attempt.all(evidence.transitions, outcomes: evidence.outcomesByJob).values.joined())
      #expect(attempts.count == 2)
      #expect(attempts.first?.ending != .own)
      #expect(attempts.last?.ending == .own)
      #expect(evidence.effects.first?.token == attempts.last?.token)
    }
  }
}
