import Model
import Postgres
import PostgresTesting
import Queue
import Testing

@Suite("Leases", .tags(.database))
struct LeaseTests {
  @Test("the jobs of a claim are found by its number and its worker, and by no others")
  func unacknowledged() async throws {
    try await withSession { session in
      for _ in 0..<3 { try JobQueue.enqueue(QueueDatabase.job(), session) }
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let other = try JobQueue.register(host: "here", process: 2, session)
      let number = ClaimNumber()
      let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, number: number, session)
      #expect(Set(claimed.map(\.token)).count == 2)
      #expect(
        try JobQueue.claimed(worker: worker, numbers: [ClaimNumber(), number], session).map(\.token)
          == claimed.map(\.token))
      #expect(try JobQueue.claimed(worker: worker, numbers: [ClaimNumber()], session).isEmpty)
      #expect(try JobQueue.claimed(worker: other, numbers: [number], session).isEmpty)
      try JobQueue.complete(claimed[0], .accepted, result: nil, session)
      #expect(try JobQueue.claimed(worker: worker, numbers: [number], session).map(\.id) == [claimed[1].id])
    }
  }

  @Test("no token is used twice, even after a crash that loses committed transactions")
  func afterCrash() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      var zombies: [ClaimedJob] = []
      for _ in 0..<2 {
        // A rollback loses the claim as a crash does; the sequence is reset too.
        struct Crash: Error {}
        #expect(throws: Crash.self) {
          try session.transaction { session in
            zombies += try JobQueue.claim(worker: worker, queue: "media", limit: 1, session)
            throw Crash()
          }
        }
        try session.execute("SELECT setval('job_token', 1, false)")
      }
      #expect(zombies.count == 2 && zombies[0].token != zombies[1].token)
      let heir = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      for job in zombies {
        #expect(throws: LeaseLost.self) { try JobQueue.complete(job, .accepted, result: nil, session) }
      }
      try JobQueue.complete(heir, .accepted, result: nil, session)
    }
  }

  @Test("the next expiry is the first end of a lease or a deadline, zero once it has passed, and none if no job runs")
  func nextExpiry() async throws {
    try await withSession { session in
      #expect(try JobQueue.nextExpiry(session) == nil)
      try JobQueue.enqueue([QueueDatabase.job(), QueueDatabase.job()], session)
      #expect(try JobQueue.nextExpiry(session) == nil)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 60, session)
      let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, session)
      func expects(from low: Double, to high: Double) throws {
        let expiry = try #require(try JobQueue.nextExpiry(session))
        #expect(expiry >= .seconds(low) && expiry <= .seconds(high))
      }
      try expects(from: 30, to: 60)
      try session.execute(
        "UPDATE job SET deadline_at = clock_timestamp() + interval '20 s' WHERE id = $1", .integer(claimed[0].id))
      try expects(from: 10, to: 20)
      try session.execute("UPDATE worker SET beat_at = clock_timestamp() - interval '1 h'")
      try expects(from: 0, to: 0)
    }
  }

  @Test("the jobs of a deregistered worker are reaped at once, whatever its lease")
  func deregistered() async throws {
    try await withSession { session in
      try JobQueue.enqueue([QueueDatabase.job(), QueueDatabase.job()], session)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 600, session)
      let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, session)
      #expect(try JobQueue.reap(session).isEmpty)
      try JobQueue.deregister(worker: worker, session)
      #expect(claimed.count == 2)
      #expect(Set(try JobQueue.reap(session).map(\.id)) == Set(claimed.map(\.id)))
    }
  }

  @Test(
    "after the clock of the server has stepped back, a dead worker loses its jobs within its lease, and a living one keeps its own",
    arguments: [true, false])
  func steppedBack(isAlive: Bool) async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 30, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      try Self.passTime(seconds: -7200, session)
      #expect(try JobQueue.workers(session).map(\.isAlive) == [false])
      #expect(try JobQueue.workers(session).allSatisfy { $0.heartbeatAgeSeconds == 0 })
      // What is from the future is in doubt, and no longer than a lease.
      #expect(try JobQueue.reap(session).isEmpty)
      let sendHeartbeat = { try JobQueue.heartbeat(worker: worker, holding: [(job.id, job.token)], session) }
      for _ in 0..<4 {
        try Self.passTime(seconds: 8, session)
        if isAlive { #expect(try sendHeartbeat() == HeartbeatReply()) }
        #expect(try JobQueue.workers(session).count == 1)
      }
      #expect(try JobQueue.reap(session).map(\.id) == (isAlive ? [] : [job.id]))
      if isAlive { try JobQueue.complete(job, .accepted, result: nil, session) }
    }
  }

  @Test("after the clock of the server has stepped back, the deadline of an attempt counts from then on")
  func deadlineSteppedBack() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 3600, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      try Self.passTime(seconds: -7200, session)
      let reap = { () throws -> [Int64] in
        _ = try JobQueue.heartbeat(worker: worker, holding: [(job.id, job.token)], session)
        return try JobQueue.reap(session).map(\.id)
      }
      #expect(try reap().isEmpty)
      try Self.passTime(seconds: 85, session)
      #expect(try reap().isEmpty)
      try Self.passTime(seconds: 10, session)
      #expect(try reap() == [job.id])
    }
  }

  @Test("after a pause that is longer than the lease, an attempt has the rest of its time, and no job is blamed")
  func paused() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 30, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      let sendHeartbeat = { try JobQueue.heartbeat(worker: worker, holding: [(job.id, job.token)], session) }
      try Self.passTime(seconds: 20, session)
      #expect(try sendHeartbeat() == HeartbeatReply())
      // The clock steps forward, and the worker sends a heartbeat before another one reaps.
      try Self.passTime(seconds: 7200, session)
      #expect(try sendHeartbeat() == HeartbeatReply())
      #expect(try JobQueue.reap(session).isEmpty)
      for _ in 0..<3 {
        try Self.passTime(seconds: 20, session)
        _ = try sendHeartbeat()
        #expect(try JobQueue.reap(session).isEmpty)
      }
      try Self.passTime(seconds: 15, session)
      _ = try sendHeartbeat()
      #expect(try JobQueue.reap(session).map(\.id) == [job.id])
    }
  }

  @Test("after the clock of the server has stepped back, a job that waits is due after its pause", arguments: [0, 1])
  func pauseSteppedBack(attempts: Int) async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(delay: attempts == 0 ? 300 : 0), session)
      if attempts == 1 {
        let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 3600, session)
        let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
        try JobQueue.snooze(job, seconds: 300, session)
      }
      try Self.passTime(seconds: -7200, session)
      _ = try JobQueue.reap(session)
      // A second time it is not in doubt.
      _ = try JobQueue.reap(session)
      try Self.passTime(seconds: 280, session)
      #expect(try JobQueue.promote(session).isEmpty)
      try Self.passTime(seconds: 40, session)
      #expect(try JobQueue.promote(session) == ["media"])
    }
  }

  /// How an attempt ends that gives the job back.
  enum Return: CaseIterable, Sendable {
    case failed, postponed, snoozed, reaped

    /// The pause is 150 to 450 seconds.
    func end(_ job: ClaimedJob, _ session: Session) throws {
      var policy = FaultPolicy()
      policy.retries.firstPause = 300
      switch self {
      case .failed: #expect(try JobQueue.fail(job, error: "", by: policy.retries, session))
      case .postponed: #expect(try JobQueue.postpone(job, error: "", by: policy.retries, session))
      case .snoozed: try JobQueue.snooze(job, seconds: 300, session)
      case .reaped: #expect(try JobQueue.reap(by: policy, session).map(\.state) == [.scheduled])
      }
    }
  }

  @Test(
    "after the clock of the server has stepped forward during an attempt, and back after it, the job is due after its pause",
    arguments: Return.allCases)
  func pauseSteppedForward(end: Return) async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 30, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      try Self.passTime(seconds: 7200, session)
      try end.end(job, session)
      try Self.passTime(seconds: -7200, session)
      _ = try JobQueue.reap(session)
      try Self.passTime(seconds: 100, session)
      #expect(try JobQueue.promote(session).isEmpty)
      try Self.passTime(seconds: 400, session)
      #expect(try JobQueue.promote(session) == ["media"])
    }
  }

  @Test("a job that loses a second worker when the clock of the server steps forward is due within seconds")
  func lostTwice() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      for step in [60, 7200] {
        let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 30, session)
        #expect(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).count == 1)
        try Self.passTime(seconds: step, session)
        #expect(try JobQueue.reap(session).map(\.state) == [.scheduled])
        try Self.passTime(seconds: 10, session)
        #expect(try JobQueue.promote(session) == ["media"])
      }
    }
  }

  /// Makes the times that are stored older, as if time had passed; fewer than no seconds: as if the clock had stepped back.
  private static func passTime(seconds: Int, _ session: Session) throws {
    try session.execute("UPDATE worker SET beat_at = beat_at - interval '\(seconds) seconds'")
    try session.execute(
      """
      UPDATE job SET deadline_at = deadline_at - interval '\(seconds) seconds',
        started_at = started_at - interval '\(seconds) seconds', created_at = created_at - interval '\(seconds) seconds',
        run_at = run_at - interval '\(seconds) seconds', postponed_at = postponed_at - interval '\(seconds) seconds'
      """)
  }
}
