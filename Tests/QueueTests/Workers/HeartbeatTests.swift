import Model
import Platform
import Postgres
import PostgresTesting
import Telemetry
import Testing

@testable import Queue

@Suite("Heartbeats", .tags(.database), .timeLimit(.minutes(60)))
struct HeartbeatTests {
  /// A heartbeat of the fixture's worker, with the jobs that the worker holds.
  private struct Beating {
    let fixture: ConsumerFixture
    let held = HeldJobs()
    let evictions = Shared(0)
    let heartbeat: Heartbeat

    init(_ fixture: ConsumerFixture, lease: Duration = .seconds(30), database: DatabaseURL? = nil) throws {
      self.fixture = fixture
      heartbeat = try Heartbeat(
        worker: fixture.worker, configuration: fixture.configuration(lease: lease),
        database: database ?? fixture.url, held: held, log: Logger { _ in }
      ) { [evictions] in evictions.withLock { $0 += 1 } }
    }

    /// Claims jobs that the worker holds from now on.
    func hold(_ count: Int) async throws -> [HeldJob] {
      try await fixture.enqueue(count)
      let jobs = try await fixture.claim(count).map { HeldJob($0, metrics: WorkerMetrics(Metrics())) }
      for job in jobs { held.add(job) }
      return jobs
    }

    /// Runs the heartbeat while `body` runs.
    func running(_ body: () async throws -> Void) async throws {
      let running = Task { [heartbeat] in await heartbeat.run() }
      let result: Result<Void, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      running.cancel()
      await running.value
      try result.get()
    }
  }

  @Test("without a successful heartbeat for three fifths of the lease all jobs are stopped, and the worker is evicted")
  func overdue() async throws {
    try await ConsumerFixture.with { fixture in
      // Real time passes only while a connection is tried, which is for a third of the lease.
      let away = DatabaseURL(socketFolder: "/nonexistent", user: "nobody", database: "none")
      let beating = try Beating(fixture, lease: .milliseconds(300), database: away)
      let jobs = try await beating.hold(2)
      let start = fixture.clock.now
      try await beating.running {
        try await fixture.clock.turn { beating.evictions.withLock { $0 } > 0 }
      }
      #expect(beating.heartbeat.isOverdue)
      #expect(start.duration(to: fixture.clock.now) > .milliseconds(180))
      #expect(jobs.allSatisfy { $0.stopReason == .leaseLost && $0.cancellation.isCancelled })
      #expect(beating.evictions.withLock { $0 } == 1)
    }
  }

  @Test("each successful heartbeat renews the lease")
  func renewal() async throws {
    try await ConsumerFixture.with { fixture in
      let beating = try Beating(fixture)
      let job = try await beating.hold(1)[0]
      try await beating.running {
        for _ in 0..<6 {
          // The sender and the fence.
          try await fixture.clock.sleepers(2)
          fixture.clock.advance(by: .seconds(10))
        }
        try await fixture.clock.sleepers(2)
        #expect(!beating.heartbeat.isOverdue)
      }
      #expect(job.stopReason == nil)
      #expect(beating.evictions.withLock { $0 } == 0)
    }
  }

  @Test("a heartbeat is overdue only after three fifths of the lease")
  func age() async throws {
    try await ConsumerFixture.with { fixture in
      let beating = try Beating(fixture)
      fixture.clock.advance(by: .seconds(18))
      #expect(!beating.heartbeat.isOverdue)
      fixture.clock.advance(by: .milliseconds(1))
      #expect(beating.heartbeat.isOverdue)
    }
  }

  @Test("a job that another worker may hold and one that is to be cancelled are stopped, and a third continues")
  func reply() async throws {
    try await ConsumerFixture.with { fixture in
      let beating = try Beating(fixture)
      let jobs = try await beating.hold(3)
      try #require(jobs.count == 3)
      try await fixture.pool.run { session in
        try session.execute(
          "UPDATE job SET state = 's', token = NULL, worker_id = NULL, deadline_at = NULL WHERE id = $1::bigint",
          .integer(jobs[0].job.id))
        _ = try JobQueue.cancel([jobs[1].job.publicID], session)
      }
      try await beating.running { try await fixture.clock.sleepers(2) }
      #expect(jobs.map(\.stopReason) == [.leaseLost, .cancelled, nil])
      #expect(beating.evictions.withLock { $0 } == 0)
    }
  }

  @Test("a worker whose row is gone stops its jobs and is evicted")
  func evicted() async throws {
    try await ConsumerFixture.with { fixture in
      let beating = try Beating(fixture)
      let jobs = try await beating.hold(2)
      try await fixture.pool.run { _ = try $0.execute("DELETE FROM worker") }
      try await beating.running { try await fixture.clock.sleepers(2) }
      #expect(jobs.allSatisfy { $0.stopReason == .leaseLost })
      #expect(beating.evictions.withLock { $0 } == 1)
    }
  }

  @Test("a lost lease overrules earlier reasons to stop, and no reason overrules another one")
  func reasons() async throws {
    try await ConsumerFixture.with { fixture in
      let job = try await Beating(fixture).hold(1)[0]
      job.stop(.cancelled)
      job.stop(.drained)
      #expect(job.stopReason == .cancelled)
      job.stop(.leaseLost)
      job.stop(.cancelled)
      #expect(job.stopReason == .leaseLost)
    }
  }

  @Test("progress is stored once")
  func progress() async throws {
    try await ConsumerFixture.with { fixture in
      let job = try await Beating(fixture).hold(1)[0]
      #expect(job.takeProgress() == nil)
      job.advance(to: JobProgress(fraction: 0.5, stage: "compose"))
      #expect(job.takeProgress() == JobProgress(fraction: 0.5, stage: "compose"))
      job.advance(to: JobProgress(fraction: 0.5, stage: "compose"))
      #expect(job.takeProgress() == nil)
    }
  }
}
