import Model
import Postgres
import PostgresTesting
import Queue
import Store
import Testing

@testable import Worker

@Suite("Jobs without media", .tags(.database), .timeLimit(.minutes(60)))
struct TaskHandlerTests {
  private func claim(
    _ fixture: WorkerFixture, kind: String = ForgetJob.kind, attempts: Int = 2
  ) async throws -> HeldJob {
    try await fixture.pool.run { session in
      let id = PublicID.now()
      _ = try JobQueue.enqueue(
        NewJob(
          publicID: id, queue: JobKinds.taskQueue, kind: kind, maxAttempts: attempts, deadlineSeconds: 60,
          arguments: Array("{}".utf8)), session)
      _ = try session.execute(
        """
        INSERT INTO forgetting (job, user_id) VALUES ($1::uuid, 'ada')
        ON CONFLICT (user_id) DO UPDATE SET job = excluded.job
        """, .text(id.description))
    }
    return try await fixture.claim(from: JobKinds.taskQueue)
  }

  private func handle(_ held: HeldJob, _ fixture: WorkerFixture) async -> ServiceHealth {
    await TaskHandler(pool: fixture.pool, store: fixture.store, clock: fixture.clock)
      .handle(held, isAlone: true, log: WorkerFixture.log)
  }

  private func effects(_ fixture: WorkerFixture) async throws -> Int {
    try await fixture.pool.run { try $0.execute("SELECT count(*) FROM forgotten_user").single().get(0) }
  }

  @Test("the effect and the completion of a job are one transaction, also if its cancellation is not known yet")
  func completed() async throws {
    for isCancelled in [false, true] {
      try await WorkerFixture.with { fixture in
        let held = try await claim(fixture)
        if isCancelled { try await fixture.pool.run { _ = try JobQueue.cancel([held.job.publicID], $0) } }
        #expect(await handle(held, fixture) == .unknown)
        #expect(try await fixture.job(held.job.publicID).state == .completed)
        #expect(try await effects(fixture) == 1)
        #expect(fixture.outcomes == ["accepted": 1])
      }
    }
  }

  @Test("after the loss of the lease the job has no effect")
  func leaseLost() async throws {
    try await WorkerFixture.with { fixture in
      let held = try await claim(fixture)
      try await fixture.reap()
      let before = try await fixture.rows()
      #expect(await handle(held, fixture) == .unknown)
      #expect(try await fixture.rows() == before)
    }
  }

  @Test("a job of a kind that this version does not know is postponed, for a newer worker")
  func unknownKind() async throws {
    try await WorkerFixture.with { fixture in
      let held = try await claim(fixture, kind: "newer", attempts: 1)
      #expect(await handle(held, fixture) == .unknown)
      let job = try await fixture.job(held.job.publicID)
      #expect(job.state == .scheduled && job.attempt == 0)
      #expect(job.error?.contains("unknown kind 'newer'") == true)
      #expect(try await effects(fixture) == 0)
    }
  }

  @Test("a job that fails is retried until it is dead")
  func failing() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript("ALTER TABLE forgotten_user ADD CHECK (digest IS NULL)", name: "refuse")
      }
      for (attempts, state) in [(2, JobState.scheduled), (1, .dead)] {
        let held = try await claim(fixture, attempts: attempts)
        #expect(await handle(held, fixture) == .unknown)
        #expect(try await fixture.job(held.job.publicID).state == state)
      }
      #expect(try await effects(fixture) == 0)
    }
  }

  @Test("a job that the database refuses during an outage is postponed once it accepts writes again")
  func databaseAway() async throws {
    try await WorkerFixture.with { fixture in
      let held = try await claim(fixture)
      try setReadOnly(true, fixture.url)
      let handling = Task { await handle(held, fixture) }
      try await fixture.clock.sleepers(for: .milliseconds(200))
      try setReadOnly(false, fixture.url)
      fixture.clock.advance(by: .milliseconds(200))
      #expect(await handling.value == .unknown)
      let job = try await fixture.job(held.job.publicID)
      #expect(job.state == .scheduled && job.attempt == 0)
      #expect(try await effects(fixture) == 0)
    }
  }
}
