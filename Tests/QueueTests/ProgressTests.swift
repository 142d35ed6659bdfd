import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Queue

@Suite("Progress of jobs that end", .tags(.database), .timeLimit(.minutes(60)))
struct ProgressTests {
  /// How an attempt ends, and whether the job ends with it.
  enum End: Sendable, CaseIterable {
    case accepted, rejected, cancelled, dropped, dead, postponedForTooLong, blamed, lostToBeCancelled, deleted
    /// By the statement of a worker of a version that removes the progress itself.
    case olderWorker
    case failed, postponed, snoozed, released, lost

    var keepsJob: Bool { [.failed, .postponed, .snoozed, .released, .lost].contains(self) }

    var maxAttempts: Int { self == .dead ? 1 : 5 }

    /// What precedes the end.
    func prepare(_ job: ClaimedJob, _ session: Session) throws {
      switch self {
      case .postponedForTooLong:
        try session.execute("UPDATE job SET postponed_at = clock_timestamp() - interval '10 days'")
      case .blamed: try session.execute("UPDATE job SET deadline_at = clock_timestamp() - interval '1 s', blamed = 10")
      case .lostToBeCancelled:
        _ = try JobQueue.cancel(job.publicID, session)
        try session.execute("DELETE FROM worker")
      case .lost: try session.execute("DELETE FROM worker")
      default: break
      }
    }

    func perform(_ job: ClaimedJob, _ session: Session) throws {
      switch self {
      case .accepted: try JobQueue.complete(job, .accepted, result: nil, session)
      case .rejected: try JobQueue.complete(job, .rejected, result: nil, session)
      case .cancelled: try JobQueue.complete(job, .cancelled, result: nil, session)
      case .dropped: try JobQueue.drop(job, session)
      case .dead, .failed: #expect(try JobQueue.fail(job, error: "x", session) == keepsJob)
      case .postponedForTooLong, .postponed: #expect(try JobQueue.postpone(job, error: "x", session) == keepsJob)
      case .snoozed: try JobQueue.snooze(job, seconds: 60, session)
      case .released: try JobQueue.release(job, session)
      case .blamed, .lostToBeCancelled, .lost: #expect(try JobQueue.reap(session).map(\.state.isFinal) == [!keepsJob])
      case .deleted: try session.execute("DELETE FROM job")
      case .olderWorker:
        try session.execute(
          """
          WITH ended AS (DELETE FROM job WHERE id = $1::bigint RETURNING id),
            forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
          SELECT id FROM ended
          """, .integer(job.id))
      }
    }
  }

  @Test(
    "a report that the end of its job has waited for goes with the job, and stays with one that runs again",
    arguments: End.allCases)
  func removed(end: End) async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 3, timeout: .seconds(300))
      let job = try await pool.run { session in
        try JobQueue.enqueue(QueueDatabase.job(maxAttempts: end.maxAttempts), session)
        let job = try claim(session)
        try end.prepare(job, session)
        return job
      }
      let mayCommit = try Event()
      let (reported, isReported) = AsyncStream.makeStream(of: Void.self)
      async let reporting: Void = pool.transaction { session in
        defer { isReported.finish() }
        try JobQueue.report(JobProgress(fraction: 0.5, stage: "publish"), of: job, session)
        isReported.finish()
        mayCommit.wait()
      }
      for await _ in reported {}
      let isPerformed = Shared(false)
      async let ending: Void = pool.transaction { session in
        defer { isPerformed.withLock { $0 = true } }
        try end.perform(job, session)
      }
      try await until {
        if isPerformed.withLock({ $0 }) { return true }
        return try await pool.run { session in
          try !session.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          ).isEmpty
        }
      }
      mayCommit.signal()
      try await reporting
      try await ending
      let left = try await pool.run { session in
        try ["job", "job_progress"].map { table in
          try session.execute("SELECT count(*) FROM \(table)").single().get(0, as: Int.self)
        }
      }
      #expect(left == (end.keepsJob ? [1, 1] : [0, 0]))
      await pool.close()
    }
  }

  @Test("a migration removes the progress of jobs that have ended")
  func migrated() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(30))
      try Migrator(QueueMigrations.all.filter { $0.version < 165 }).migrate(session)
      let job = QueueDatabase.job()
      try JobQueue.enqueue(job, session)
      try session.execute(
        """
        INSERT INTO job_progress (job_id, token, fraction, stage)
        SELECT id, 1, 0.5, 'compose' FROM job UNION ALL SELECT 1000000, 1, 0.5, 'publish'
        """)
      try Migrator(QueueMigrations.all).migrate(session)
      let left = try session.execute("SELECT job_id = (SELECT id FROM job) AS is_live FROM job_progress")
      #expect(try left.map { try $0.get("is_live", as: Bool.self) } == [true])
    }
  }

  @Test("workers are notified of a job that is released")
  func released() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(url, channels: [QueueChannel.jobs]) { continuation.yield($0) })
      try listener.start()
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)
      // One connection: its notifications come in the order of its transactions.
      let pool = Pool(url, size: 1)
      let job = try await pool.run { session in
        try JobQueue.enqueue(QueueDatabase.job(), session)
        return try claim(session)
      }
      try await pool.transaction { try JobQueue.release(job, $0) }
      try await pool.run { _ = try $0.execute("SELECT pg_notify('\(QueueChannel.jobs)', 'end')") }
      #expect(await queue(of: received.next()) == "media")
      listener.stop()
      await pool.close()
    }
  }
}
