import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Queue

/// Removes each guard of a statement once and checks that its absence has an effect.
@Suite("Guards of the statements", .tags(.database))
struct MutationTests {
  @Test(
    "without the token a former holder can write",
    // A job with one attempt is dead when it fails.
    arguments: [("complete", 5), ("fail", 5), ("fail", 1), ("postpone", 5), ("release", 5), ("snooze", 5)])
  func token(_ name: String, maxAttempts: Int) async throws {
    #expect(try await !holds { try zombieWrites(name, maxAttempts, $0) })
    #expect(
      try await holds(without: "AND token = $2", of: [name], instead: "AND $2::bigint IS NOT NULL") {
        try zombieWrites(name, maxAttempts, $0)
      })
  }

  @Test("without the lock on its row a worker that is being swept can claim a job")
  func keyShare() async throws {
    #expect(try await !evictedClaims())
    let broken = JobQueue.statements.replacing("FOR KEY SHARE", in: "claim", with: "")
    #expect(try await JobQueue.$statements.withValue(broken) { try await evictedClaims() })
  }

  @Test("without its guard the sweep removes a worker that holds a job")
  func sweep() async throws {
    let body: @Sendable (Session) throws -> Bool = { session in
      try JobQueue.enqueue([QueueDatabase.job()], session)
      _ = try claim(session)
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      try session.execute(JobQueue.statements["sweep"])
      return try session.execute("SELECT FROM worker").isEmpty
    }
    #expect(try await !holds(body))
    let part = "AND NOT EXISTS (SELECT FROM job WHERE job.worker_id = worker.id AND job.state = 'x')"
    #expect(try await holds(without: part, of: ["sweep"], instead: "", body))
  }

  @Test("without its guard reap takes jobs from workers with a valid lease")
  func reaper() async throws {
    let body: @Sendable (Session) throws -> Bool = { session in
      try JobQueue.enqueue([QueueDatabase.job()], session)
      _ = try claim(session)
      return try !JobQueue.reap(session).isEmpty
    }
    #expect(try await !holds(body))
    #expect(
      try await holds(without: "worker.id = job.worker_id", of: ["reap"], instead: "false", body))
  }

  // MARK: Failures

  /// Whether a holder can still write for its job after another worker has claimed it.
  private func zombieWrites(_ name: String, _ maxAttempts: Int, _ session: Session) throws -> Bool {
    try JobQueue.enqueue(QueueDatabase.job(maxAttempts: maxAttempts), session)
    let zombie = try claim(session)
    try lose(session)
    let heir = try claim(session)
    #expect(heir.id == zombie.id && heir.token != zombie.token)
    return succeeds {
      switch name {
      case "complete": try JobQueue.complete(zombie, .accepted, result: nil, session)
      case "fail":
        let runsAgain = try JobQueue.fail(zombie, error: "zombie", session)
        #expect(runsAgain == (maxAttempts > 1))
      case "postpone": _ = try JobQueue.postpone(zombie, error: "zombie", session)
      case "release": try JobQueue.release(zombie, session)
      default: try JobQueue.snooze(zombie, seconds: 1, session)
      }
    }
  }

  /// Whether a worker can claim a job while an open transaction has removed its row.
  private func evictedClaims() async throws -> Bool {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 3)
      let worker = try await pool.run { session in
        try JobQueue.enqueue(QueueDatabase.job(), session)
        return try JobQueue.register(host: "here", process: 1, session)
      }
      let removed = AsyncStream.makeStream(of: Void.self)
      let mayCommit = try Event()
      async let sweeping: Void = pool.transaction { session in
        try session.execute("DELETE FROM worker")
        removed.continuation.yield()
        mayCommit.wait()
      }
      for await _ in removed.stream { break }
      let claimed = Shared(false)
      async let claiming: Bool = pool.run { session in
        defer { claimed.withLock { $0 = true } }
        return try !JobQueue.claim(worker: worker, queue: "media", limit: 1, session).isEmpty
      }
      // Until the claim has returned or waits for the lock.
      try await until {
        let waits = try await pool.run { session in
          try !session.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          ).isEmpty
        }
        return waits || claimed.withLock { $0 }
      }
      mayCommit.signal()
      try await sweeping
      let result = try await claiming
      await pool.close()
      return result
    }
  }

  // MARK: Support

  private func holds(_ body: @escaping @Sendable (Session) throws -> Bool) async throws -> Bool {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      let result = try await pool.run(body)
      await pool.close()
      return result
    }
  }

  private func holds(
    without part: String, of names: [String], instead: String, _ body: @escaping @Sendable (Session) throws -> Bool
  ) async throws -> Bool {
    var broken = JobQueue.statements
    for name in names { broken = broken.replacing(part, in: name, with: instead) }
    return try await JobQueue.$statements.withValue(broken) { try await holds(body) }
  }

  private func succeeds(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      return false
    }
  }

  /// Expires all leases, and makes the reaped jobs available at once.
  private func lose(_ session: Session) throws {
    try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
    for job in try JobQueue.reap(session) { #expect(try JobQueue.retryNow(job.publicID, session)) }
  }
}

struct FailpointTests {
  @Test("every statement has failpoints before and after it, at which its connection can be cut")
  func statements() {
    let points = Set(JobQueue.failpoints.filter(\.isOnConnection).flatMap(\.points))
    #expect(JobQueue.statements.names.count > 20)
    for name in JobQueue.statements.names {
      #expect(points.contains("queue.\(name).before"))
      #expect(points.contains("queue.\(name).after"))
    }
  }
}
