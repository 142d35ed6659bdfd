import FoundationEssentials
import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

@Suite("Groups of short jobs", .tags(.database))
struct GroupTests {
  @Test("a group leaves the queue together, is seen as executing, and ends together in the history")
  func life() async throws {
    try await withSession { session in
      let jobs = (0..<5).map { _ in QueueDatabase.job() }
      #expect(try JobQueue.enqueue(jobs, session).isEmpty)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let group = try #require(try JobQueue.claimGroup(worker: worker, queue: "media", limit: 3, session))
      #expect(group.jobs.map(\.publicID) == jobs.prefix(3).map(\.publicID))
      #expect(group.jobs.allSatisfy { $0.attempt == 1 && $0.token == group.token })
      #expect(group.jobs[0].arguments == Array(#"{"post": "1"}"#.utf8))
      #expect(try JobQueue.find(jobs[0].publicID, session)?.state == .executing)
      #expect(try JobQueue.list(JobFilter(states: [.executing]), session).count == 3)
      #expect(try JobQueue.depths(session).first { $0.state == .executing }?.jobs == 3)

      try JobQueue.settle(group, [group.jobs[1].id: .completed(.rejected, result: Array("{}".utf8))], session)
      let done = try JobQueue.find(jobs.prefix(3).map(\.publicID), session)
      #expect(done.allSatisfy { $0.state == .completed && $0.attempt == 1 && $0.author == "ada" })
      #expect(done.count { $0.result != nil } == 1)
      #expect(throws: LeaseLost.self) { try JobQueue.settle(group, [:], session) }
      #expect(try JobQueue.claimGroup(worker: worker, queue: "media", limit: 9, session)?.jobs.count == 2)
    }
  }

  @Test("members end each in its own way")
  func endings() async throws {
    try await withSession { session in
      let jobs = (0..<5).map { _ in QueueDatabase.job() }
      try JobQueue.enqueue(jobs, session)
      let group = try claim(session)
      let ids = group.jobs.map(\.id)
      try JobQueue.settle(
        group,
        [
          ids[0]: .retry(seconds: 60, error: "later"), ids[1]: .snoozed(seconds: 60), ids[2]: .dead(error: "never"),
          ids[3]: .released,
        ], session)
      let ended = try jobs.map { try #require(try JobQueue.find($0.publicID, session)) }
      #expect(ended.map(\.state) == [.scheduled, .scheduled, .dead, .available, .completed])
      #expect(ended.map(\.attempt) == [1, 0, 1, 0, 1])
      #expect(ended.map(\.error) == ["later", nil, "never", nil, nil])
    }
  }

  @Test("the group of a lost worker comes back, each of its jobs alone from then on")
  func lostWorker() async throws {
    try await withSession { session in
      try JobQueue.enqueue((0..<3).map { _ in QueueDatabase.job() }, session)
      let zombie = try claim(session)
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      #expect(try JobQueue.reap(session).map(\.state) == [.scheduled, .scheduled, .scheduled])
      #expect(throws: LeaseLost.self) { try JobQueue.settle(zombie, [:], session) }
      try session.execute("UPDATE job SET run_at = clock_timestamp()")
      #expect(try JobQueue.promote(session) == 3)
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let sizes = try (0..<4).map { _ in try claim(session).jobs.count }
      #expect(sizes == [1, 1, 1, 1])
    }
  }

  @Test("a group whose worker was lost for the third time is dead")
  func poison() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 9)
      try JobQueue.enqueue([job], session)
      for expected in [JobState.scheduled, .scheduled, .dead] {
        _ = try claim(session)
        try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
        #expect(try JobQueue.reap(session).map(\.state) == [expected])
        if expected == .scheduled { #expect(try JobQueue.retryNow(job.publicID, session)) }
      }
      #expect(try JobQueue.find(job.publicID, session)?.state == .dead)
    }
  }

  @Test("a member that is to be cancelled gets no further attempt")
  func cancelling() async throws {
    try await withSession { session in
      let jobs = (0..<3).map { _ in QueueDatabase.job() }
      try JobQueue.enqueue(jobs, session)
      let group = try claim(session)
      for job in jobs.prefix(2) { #expect(try JobQueue.cancel(job.publicID, session) == .requested) }
      try JobQueue.settle(group, [group.jobs[0].id: .released], session)
      let states = try jobs.map { try JobQueue.find($0.publicID, session)?.state }
      #expect(states == [.cancelled, .completed, .completed])
    }
  }

  @Test("a key is held while its job executes in a group, and a limit too")
  func keysAndLimits() async throws {
    try await withSession { session in
      var limited = QueueDatabase.job()
      limited.limit = JobLimit(name: "ada", most: 1)
      var second = QueueDatabase.job()
      second.limit = limited.limit
      #expect(try JobQueue.enqueue([QueueDatabase.job(key: [1]), QueueDatabase.job(), limited, second], session) == [])
      #expect(try JobQueue.grant(session) == 1)
      let group = try claim(session)
      #expect(group.jobs.count == 3)
      #expect(try JobQueue.enqueue([QueueDatabase.job(key: [1])], session).count == 1)
      #expect(try JobQueue.grant(session) == 0)
      try JobQueue.settle(group, [:], session)
      #expect(try JobQueue.grant(session) == 1)
      #expect(try JobQueue.enqueue([QueueDatabase.job(key: [1])], session).isEmpty)
    }
  }

  @Test("a worker that was swept away gets no group")
  func eviction() async throws {
    try await withSession { session in
      try JobQueue.enqueue([QueueDatabase.job()], session)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      try JobQueue.deregister(worker: worker, session)
      #expect(try JobQueue.beat(worker: worker, holding: [], session).isEvicted)
      #expect(try JobQueue.claimGroup(worker: worker, queue: "media", limit: 1, session) == nil)
    }
  }

  @Test("what is copied in bulk arrives as it was")
  func bulk() async throws {
    try await withSession { session in
      var job = QueueDatabase.job(delay: 60)
      (job.definition, job.request, job.priority, job.author) = (Array(0..<32), "r-1", 0, nil)
      try JobQueue.enqueue([job, QueueDatabase.job()], session)
      let found = try #require(try JobQueue.find(job.publicID, session))
      #expect(found.state == .scheduled)
      #expect(found.request == "r-1" && found.author == nil && found.maxAttempts == 5)
      #expect(found.runAt.map { $0.timeIntervalSince(found.createdAt) > 59 } == true)
      #expect(try JobQueue.retryNow(job.publicID, session))
      let claimed = try claim(session).jobs
      // The head start of its priority puts it in front.
      #expect(claimed.first?.publicID == job.publicID && claimed.first?.definition == Array(0..<32))
      #expect(claimed.count == 2)
    }
  }

  private func withSession(_ body: @escaping @Sendable (Session) throws -> Void) async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run(body)
      await pool.close()
    }
  }

  private func claim(_ session: Session) throws -> GroupClaim {
    let worker = try JobQueue.register(host: "here", process: 1, session)
    return try #require(try JobQueue.claimGroup(worker: worker, queue: "media", limit: 100, session))
  }
}
