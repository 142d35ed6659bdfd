import Model
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@Suite("Job queue", .tags(.database))
struct JobQueueTests {
  @Test("a job is claimed once, completed once, and stays readable with its result")
  func life() async throws {
    try await withSession { session in
      let job = QueueDatabase.job()
      #expect(try JobQueue.enqueue(job, session) != nil)
      #expect(try JobQueue.find(job.publicID, session)?.state == .available)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 10, session)
      let mine = try #require(claimed.first)
      #expect(claimed.count == 1)
      #expect(mine.attempt == 1)
      #expect(try JobQueue.claim(worker: worker, queue: "media", limit: 10, session).isEmpty)
      try JobQueue.report(JobProgress(fraction: 0.5, stage: "compose"), of: mine, session)
      let running = try #require(try JobQueue.find(job.publicID, session))
      #expect(running.state == .executing)
      #expect(running.progress == JobProgress(fraction: 0.5, stage: "compose"))

      try JobQueue.complete(mine, .accepted, result: Array(#"{"verdict":"accepted"}"#.utf8), session)
      let done = try #require(try JobQueue.find(job.publicID, session))
      #expect(done.state == .completed)
      #expect(done.progress.fraction == 1)
      #expect(done.result.map { String(decoding: $0, as: UTF8.self) } == #"{"verdict": "accepted"}"#)
      #expect(throws: LeaseLost.self) { try JobQueue.complete(mine, .accepted, result: nil, session) }
    }
  }

  @Test("a notification is sent once the job is committed, and not if it is rolled back")
  func notifying() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(url, channels: [QueueChannel.jobs]) { continuation.yield($0) })
      try listener.start()
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)

      let pool = Pool(url, size: 2)
      for (queue, isCommitted) in [("first", false), ("second", true)] {
        try? await pool.transaction { session in
          try JobQueue.enqueue(QueueDatabase.job(), session)
          try JobQueue.notify(queue: queue, session)
          if !isCommitted { throw CancellationError() }
        }
      }
      #expect(await queue(of: received.next()) == "second")
      let jobs = try await pool.run { try JobQueue.list(JobFilter(), $0).count }
      #expect(jobs == 1)
      listener.stop()
      await pool.close()
    }
  }

  @Test("concurrent claims never return the same job")
  func concurrentClaims() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 5)
      let worker = try await pool.run { session in
        for _ in 0..<200 { try JobQueue.enqueue(QueueDatabase.job(), session) }
        return try JobQueue.register(host: "here", process: 1, session)
      }
      let claimed = try await withThrowingTaskGroup(of: [Int64].self) { group in
        for _ in 0..<4 {
          group.addTask {
            var ids: [Int64] = []
            let deadline = Deadline("no job")
            while true {
              try deadline.check()
              let jobs = try await pool.run { try JobQueue.claim(worker: worker, queue: "media", limit: 7, $0) }
              if jobs.isEmpty { return ids }
              ids += jobs.map(\.id)
            }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(claimed.count == 200)
      #expect(Set(claimed).count == 200)
      await pool.close()
    }
  }

  @Test("a stale token writes nothing: it cannot complete, fail, postpone, release or report")
  func fencing() async throws {
    try await withSession { session in
      let job = QueueDatabase.job()
      try JobQueue.enqueue(job, session)
      let zombie = try claim(session)
      // The lease of its worker expires, and another worker claims the job.
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      #expect(try JobQueue.reap(session).map(\.state) == [.scheduled])
      #expect(try JobQueue.retryNow(job.publicID, session))
      let heir = try claim(session)
      #expect(heir.id == zombie.id)
      #expect(heir.token != zombie.token)
      #expect(heir.lost == 1)

      #expect(throws: LeaseLost.self) { try JobQueue.complete(zombie, .accepted, result: nil, session) }
      #expect(throws: LeaseLost.self) { try JobQueue.fail(zombie, error: "x", session) }
      #expect(throws: LeaseLost.self) { try JobQueue.postpone(zombie, error: "x", session) }
      #expect(throws: LeaseLost.self) { try JobQueue.release(zombie, session) }
      try JobQueue.report(JobProgress(fraction: 0.9, stage: "zombie"), of: zombie, session)
      #expect(try JobQueue.find(job.publicID, session)?.progress.stage != "zombie")
      try JobQueue.complete(heir, .accepted, result: nil, session)
    }
  }

  @Test("the entire transaction of a stale token rolls back")
  func rollback() async throws {
    try await withSession { session in
      try session.executeScript("CREATE TABLE effect (id int)", name: "effect")
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let mine = try claim(session)
      let stale = try makeStale(mine, session)
      #expect(throws: LeaseLost.self) {
        try session.transaction { session in
          try session.execute("INSERT INTO effect VALUES (1)")
          try JobQueue.complete(stale, .accepted, result: nil, session)
        }
      }
      #expect(try session.execute("SELECT FROM effect").isEmpty)
    }
  }

  @Test("a failed attempt is repeated later, and a job without attempts left is dead until it is retried")
  func retries() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 2)
      try JobQueue.enqueue(job, session)
      let first = try claim(session)
      let policy = RetryPolicy(firstPause: 3600, maxPause: 3600)
      #expect(try JobQueue.fail(first, error: "the disk is full", by: policy, session))
      let waiting = try #require(try JobQueue.find(job.publicID, session))
      #expect(waiting.state == .scheduled)
      #expect(waiting.error == "the disk is full")
      #expect(try JobQueue.promote(session).isEmpty)
      try session.execute("UPDATE job SET run_at = clock_timestamp()")
      #expect(try JobQueue.promote(session) == ["media"])

      let second = try claim(session)
      #expect(second.attempt == 2)
      #expect(try !JobQueue.fail(second, error: "the disk is still full", session))
      let dead = try #require(try JobQueue.find(job.publicID, session))
      #expect(dead.state == .dead && dead.attempt == 2 && dead.error == "the disk is still full")
      #expect(try JobQueue.list(JobFilter(states: [.dead]), session).map(\.publicID) == [job.publicID])
      #expect(try JobQueue.retryNow(job.publicID, session))
      let third = try claim(session)
      #expect(third.id == first.id)
      #expect(third.attempt == 1)
    }
  }

  @Test("a job past its deadline is reaped although its worker sends heartbeats")
  func deadline() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let mine = try claim(session)
      #expect(try JobQueue.reap(session).isEmpty)
      try session.execute("UPDATE job SET deadline_at = clock_timestamp() - interval '1 second'")
      #expect(try JobQueue.reap(session).map(\.id) == [mine.id])
    }
  }

  @Test("each worker has its own lease")
  func leases() async throws {
    try await withSession { session in
      for _ in 0..<2 { try JobQueue.enqueue(QueueDatabase.job(), session) }
      let long = try JobQueue.register(host: "here", process: 1, leaseSeconds: 600, session)
      let short = try JobQueue.register(host: "here", process: 2, leaseSeconds: 3, session)
      let held = try #require(try JobQueue.claim(worker: long, queue: "media", limit: 1, session).first)
      let taken = try #require(try JobQueue.claim(worker: short, queue: "media", limit: 1, session).first)
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 minute'")
      #expect(try JobQueue.reap(session).map(\.id) == [taken.id])
      try JobQueue.complete(held, .accepted, result: nil, session)
    }
  }

  @Test("a worker without a heartbeat for most of its lease claims no job")
  func overdueHeartbeat() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, leaseSeconds: 30, session)
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '20 seconds'")
      #expect(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).isEmpty)
      _ = try JobQueue.heartbeat(worker: worker, holding: [], session)
      #expect(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).count == 1)
    }
  }

  @Test("a job that is to be cancelled gets no further attempt, however its attempt ends")
  func cancelledAttempt() async throws {
    try await withSession { session in
      let job = QueueDatabase.job()
      try JobQueue.enqueue(job, session)
      let mine = try claim(session)
      #expect(try JobQueue.cancel(job.publicID, session) == .requested)
      #expect(throws: LeaseLost.self) { try JobQueue.fail(mine, error: "x", session) }
      #expect(throws: LeaseLost.self) { try JobQueue.postpone(mine, error: "x", session) }
      #expect(throws: LeaseLost.self) { try JobQueue.release(mine, session) }
      try JobQueue.complete(mine, .cancelled, result: nil, session)
      try JobQueue.report(JobProgress(fraction: 0.9, stage: "late"), of: mine, session)
      #expect(try session.execute("SELECT FROM job_progress").isEmpty)
    }
  }

  @Test("a released job is available at once, and the attempt does not count")
  func release() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      try JobQueue.release(try claim(session), session)
      #expect(try claim(session).attempt == 1)
    }
  }

  @Test("a waiting job is cancelled, and the next heartbeat reports the cancellation of a running one")
  func cancelling() async throws {
    try await withSession { session in
      let waiting = QueueDatabase.job()
      try JobQueue.enqueue(waiting, session)
      #expect(try JobQueue.cancel(waiting.publicID, session) == .cancelled)
      #expect(try JobQueue.find(waiting.publicID, session)?.state == .cancelled)
      #expect(try JobQueue.cancel(waiting.publicID, session) == .notLive)

      let running = QueueDatabase.job()
      try JobQueue.enqueue(running, session)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let mine = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      #expect(try JobQueue.heartbeat(worker: worker, holding: [(mine.id, mine.token)], session) == HeartbeatReply())
      #expect(try JobQueue.cancel(running.publicID, session) == .requested)
      let reply = try JobQueue.heartbeat(worker: worker, holding: [(mine.id, mine.token)], session)
      #expect(reply.cancelled == [mine.token])
      try JobQueue.complete(mine, .cancelled, result: nil, session)
      #expect(try JobQueue.find(running.publicID, session)?.state == .cancelled)
    }
  }

  @Test("a heartbeat reports lost leases and a swept worker, and a swept worker claims no job")
  func eviction() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let mine = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      #expect(
        try JobQueue.heartbeat(worker: worker, holding: [(mine.id, mine.token + 1)], session).lost == [mine.token + 1])
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      _ = try JobQueue.reap(session)
      #expect(try JobQueue.heartbeat(worker: worker, holding: [], session).isEvicted)
      try session.execute("UPDATE job SET state = 'a'")
      #expect(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).isEmpty)
    }
  }

  @Test("a unique key is taken while its job is live, and free afterwards")
  func uniqueness() async throws {
    try await withSession { session in
      let key: [UInt8] = [1, 2, 3]
      #expect(try JobQueue.enqueue(QueueDatabase.job(key: key), session) != nil)
      #expect(try JobQueue.enqueue(QueueDatabase.job(key: key), session) == nil)
      let mine = try claim(session)
      #expect(try JobQueue.enqueue(QueueDatabase.job(key: key), session) == nil)
      try JobQueue.complete(mine, .accepted, result: nil, session)
      #expect(try JobQueue.enqueue(QueueDatabase.job(key: key), session) != nil)
    }
  }

  @Test("a completed job is stored in the partition of its day")
  func partitions() async throws {
    try await withSession { session in
      try session.transaction(JobHistory.addPartitions)
      try JobQueue.enqueue(QueueDatabase.job(), session)
      try JobQueue.complete(try claim(session), .accepted, result: nil, session)
      #expect(try session.execute("SELECT FROM job_done").count == 1)
      #expect(try session.execute("SELECT FROM job_done_rest").isEmpty)
    }
  }

  @Test("a day whose history began in the default partition stays there, and later days get partitions")
  func lateHistory() async throws {
    try await withSession { session in
      let days = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'job_done'::regclass"
      for row in try session.execute(
        """
        SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'job_done'::regclass AND relname <> 'job_done_rest'
        """)
      {
        try session.executeScript("DROP TABLE \(try row.get("relname", as: String.self))", name: "drop")
      }
      try JobQueue.enqueue(QueueDatabase.job(), session)
      try JobQueue.complete(try claim(session), .accepted, result: nil, session)
      try session.transaction(JobHistory.addPartitions)
      // The default partition, and seven days from tomorrow on.
      #expect(try session.execute(Statement(stringLiteral: days)).single().get(0) == 8)
      #expect(try session.execute("SELECT FROM job_done_rest").count == 1)
    }
  }

  /// Changes the token as another claim does, and returns the stale claim.
  private func makeStale(_ mine: ClaimedJob, _ session: Session) throws -> ClaimedJob {
    try session.execute("UPDATE job SET token = token # 1")
    return mine
  }
}
