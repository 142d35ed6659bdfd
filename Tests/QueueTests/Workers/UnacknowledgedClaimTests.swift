import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Queue

@Suite("Claims whose replies were lost", .tags(.database), .timeLimit(.minutes(60)))
struct UnacknowledgedClaimTests {
  @Test("each number is due once a second, for as long as a network may hold the statement back")
  func due() {
    let clock = TestClock()
    let numbers = [ClaimNumber(), ClaimNumber()]
    let claims = UnacknowledgedClaims(numbers, clock: clock)
    #expect(claims.due() == numbers)
    clock.advance(by: .milliseconds(999))
    #expect(claims.due().isEmpty)
    clock.advance(by: .milliseconds(1))
    #expect(claims.due() == numbers)
    claims.remove([numbers[0]])
    clock.advance(by: .seconds(1))
    #expect(claims.due() == [numbers[1]])
    clock.advance(by: .seconds(16 * 60))
    #expect(claims.due().isEmpty)
  }

  @Test(
    "jobs of lost replies beyond the free slots are released, even if their claim commits late, and every job ends")
  func late() async throws {
    try await ConsumerFixture.with { fixture in
      let pool = fixture.pool
      try await fixture.enqueue(6)
      let numbers = (0..<3).map { _ in ClaimNumber() }
      // Two claims whose replies were lost; a third reaches the server after it was looked up.
      for number in numbers.prefix(2) {
        let jobs = try await fixture.claim(2, number)
        #expect(jobs.count == 2)
      }
      let (started, late, isEnded) = (Shared(0), OneShot<Void>(), Shared(false))
      let handler = Handler { held in
        let number = started.withLock { count in
          count += 1
          return count
        }
        if number == 1 { late.fulfil(()) }
        // No slot is free before the third claim has committed.
        try await until { try await !pool.run({ try $0.execute("SELECT FROM late").isEmpty }) }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        if try await pool.run({ try $0.execute("SELECT FROM job").isEmpty }) { isEnded.withLock { $0 = true } }
        return .healthy
      }
      let consumer = try fixture.consumer(slots: 2, unacknowledged: numbers, handler)
      try await fixture.running(consumer) {
        await late.value
        let jobs = try await fixture.claim(2, numbers[2])
        #expect(jobs.count == 2)
        try await pool.run { _ = try $0.execute("INSERT INTO late VALUES (1)") }
        try await fixture.clock.turn { isEnded.withLock { $0 } }
      }
      try await pool.run { session in
        let done = try JobQueue.list(JobFilter(states: [.completed], limit: 100), session)
        #expect(done.count == 6 && done.allSatisfy { $0.attempt == 1 && $0.lost == 0 })
      }
      #expect(started.withLock { $0 } == 6)
    }
  }

  @Test("a claim whose connection is lost is looked up again")
  func lostConnection() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      let isEnded = Shared(false)
      let consumer = try fixture.consumer(fixture.completing { _ in isEnded.withLock { $0 = true } })
      // The claim waits for this lock, and its connection is terminated meanwhile.
      let blocker = try Session.connect(fixture.url, timeout: .seconds(5))
      try blocker.executeScript("BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE", name: "LOCK")
      try await fixture.running(consumer) {
        let terminated: Statement = """
          SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'
          """
        try await until { try !blocker.execute(terminated).isEmpty }
        try await fixture.clock.sleepers()
        fixture.clock.advance(by: .milliseconds(1))
        let due = consumer.unacknowledged.due()
        #expect(due.count == 1)
        try blocker.executeScript("COMMIT", name: "COMMIT")
        try await fixture.clock.turn { isEnded.withLock { $0 } }
      }
      #expect(try await fixture.state(id) == .completed)
    }
  }

  @Test("a job that the worker holds already is not started again")
  func held() async throws {
    try await ConsumerFixture.with { fixture in
      try await fixture.enqueue()
      let (number, started) = (ClaimNumber(), Shared(0))
      let job = try #require(try await fixture.claim(1, number).first)
      let consumer = try fixture.consumer(
        slots: 2, unacknowledged: [number], fixture.completing { _ in started.withLock { $0 += 1 } })
      consumer.context.held.add(HeldJob(job, metrics: consumer.context.metrics))
      try await fixture.running(consumer) {
        try await fixture.poll(5)
        for job in consumer.context.held.all { consumer.context.held.remove(job) }
        consumer.context.stopping.cancel()
      }
      #expect(started.withLock { $0 } == 0)
      #expect(try await fixture.state(job.publicID) == .executing)
    }
  }

  @Test("a claim whose reply arrived is not looked up later")
  func acknowledged() async throws {
    try await ConsumerFixture.with { fixture in
      try await fixture.enqueue()
      let hasEnded = CancellationFlag()
      let consumer = try fixture.consumer(fixture.completing { _ in hasEnded.cancel() })
      try await fixture.running(consumer) { try await fixture.clock.turn { hasEnded.isCancelled } }
      fixture.clock.advance(by: .seconds(1))
      #expect(consumer.unacknowledged.due().isEmpty)
    }
  }

  @Test("a job that is to be cancelled is not released: it waits for a slot, whose handler ends it")
  func cancelled() async throws {
    try await ConsumerFixture.with { fixture in
      try await fixture.enqueue(2)
      let number = ClaimNumber()
      let jobs = try await fixture.claim(2, number)
      try #require(jobs.count == 2)
      let outcomes = try await fixture.pool.run { try JobQueue.cancel([jobs[1].publicID], $0) }
      #expect(outcomes[jobs[1].publicID] == .requested)
      let (started, mayEnd) = (Shared<[Int64]>([]), Shared(false))
      let pool = fixture.pool
      let handler = Handler { held in
        started.withLock { $0.append(held.job.id) }
        try await until { mayEnd.withLock({ $0 }) }
        try await pool.transaction { try JobQueue.complete(held.job, .cancelled, result: nil, $0) }
        return .unknown
      }
      let consumer = try fixture.consumer(unacknowledged: [number], handler)
      try await fixture.running(consumer) {
        try await fixture.poll(5)
        // The handler starts on a thread of its own.
        try await until { !started.withLock({ $0.isEmpty }) }
        #expect(started.withLock { $0 } == [jobs[0].id])
        let state = try await fixture.state(jobs[1].publicID)
        #expect(state == .executing)
        mayEnd.withLock { $0 = true }
        try await fixture.clock.turn { started.withLock { $0.count } == 2 }
      }
      #expect(started.withLock { $0 } == jobs.map(\.id))
      #expect(try await fixture.state(jobs[1].publicID) == .cancelled)
    }
  }
}
