import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

@Suite("Pauses before attempts", .tags(.database))
struct PauseTests {
  private static let policy = RetryPolicy(firstPause: 1, maxPause: 60)

  /// The statements without the random factor.
  private static let exact = ["fail", "postpone", "reap"].reduce(JobQueue.statements) { statements, name in
    statements.replacing("(0.5 + random())", in: name, with: "1")
  }

  @Test(
    "pauses after failed attempts double up to the maximum",
    arguments: [(1, 1.0), (2, 2), (3, 4), (6, 32), (7, 60), (30, 60), (9999, 60)])
  func doubling(attempt: Int, seconds: Double) async throws {
    try await withJob(maxAttempts: 10_000) { job, session in
      try session.execute("UPDATE job SET attempt = \(attempt)")
      try expectPause(seconds, session) { try JobQueue.fail(job, error: "x", by: Self.policy, session) }
    }
  }

  @Test("there is no attempt after the last")
  func last() async throws {
    try await withJob(maxAttempts: 2) { job, session in
      try session.execute("UPDATE job SET attempt = 2")
      #expect(try !JobQueue.fail(job, error: "x", by: Self.policy, session))
      #expect(try JobQueue.find(job.publicID, session)?.state == .dead)
    }
  }

  @Test(
    "pauses of postponed jobs are a quarter of the time since the first postponement, from one second to five minutes",
    arguments: [(nil, 1.0), (1, 1), (60, 15), (3600, 300), (86_399, 300)])
  func postponement(since: Int?, seconds: Double) async throws {
    try await withJob { job, session in
      try postpone(since, session)
      try expectPause(seconds, session) { try JobQueue.postpone(job, error: "x", session) }
    }
  }

  @Test("a job that has been postponed for a day is dead, and its last attempt stays counted")
  func day() async throws {
    try await withJob { job, session in
      try postpone(86_400, session)
      #expect(try !JobQueue.postpone(job, error: "the storage is full", session))
      let dead = try #require(try JobQueue.find(job.publicID, session))
      #expect(dead.state == .dead && dead.attempt == 1 && dead.error == "the storage is full")
    }
  }

  @Test(
    "pauses of blamed jobs grow fourfold with each loss, up to the fifth",
    arguments: [(0, 1.0), (1, 4), (2, 16), (3, 64), (4, 256), (5, 256), (30_000, 256)])
  func blamed(lost: Int, seconds: Double) async throws {
    try await withJob { _, session in
      try session.execute("UPDATE job SET lost = \(lost), deadline_at = clock_timestamp() - interval '1 second'")
      try expectPause(seconds, session) { try JobQueue.reap(session).map(\.state) == [.scheduled] }
    }
  }

  @Test(
    "lost jobs that are not blamed pause like postponed jobs, bounded by four to the number of losses",
    arguments: [
      (nil, 0, 1.0), (nil, 5, 1), (3600, 0, 1), (3600, 1, 4), (3600, 4, 256), (3600, 5, 300), (3600, 30_000, 300),
    ])
  func lost(since: Int?, lost: Int, seconds: Double) async throws {
    try await withJob { _, session in
      try postpone(since, session)
      try session.execute("UPDATE job SET lost = \(lost)")
      try session.execute("DELETE FROM worker")
      try expectPause(seconds, session) { try JobQueue.reap(session).map(\.state) == [.scheduled] }
    }
  }

  @Test("the random factor scales a pause by 0.5 to 1.5")
  func spread() async throws {
    try await withJob { job, session in
      let before = try now(session)
      #expect(try JobQueue.fail(job, error: "x", session))
      let (runAt, after) = (try runAt(session), try now(session))
      #expect((before + 500_000...after + 1_500_000).contains(runAt))
    }
  }

  // MARK: Support

  /// Runs a test with one job, which is claimed.
  private func withJob(
    maxAttempts: Int = 5, _ body: @escaping @Sendable (ClaimedJob, Session) throws -> Void
  ) async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(maxAttempts: maxAttempts), session)
      try body(claim(session), session)
    }
  }

  /// Sets the time between the first postponement of the job and its claim, in seconds.
  private func postpone(_ since: Int?, _ session: Session) throws {
    guard let since else { return }
    try session.execute("UPDATE job SET postponed_at = started_at - make_interval(secs => \(since))")
  }

  /// Expects that a job will run again, at a pause after the time of the statement, without the random factor.
  private func expectPause(_ seconds: Double, _ session: Session, _ runsAgain: () throws -> Bool) throws {
    let before = try now(session)
    let isScheduled = try JobQueue.$statements.withValue(Self.exact) { try runsAgain() }
    #expect(isScheduled)
    let (runAt, after) = (try runAt(session), try now(session))
    #expect((before...after).contains(runAt - Int64(seconds * 1e6)))
  }

  private func now(_ session: Session) throws -> Int64 {
    try session.execute("SELECT clock_timestamp()").single().get(0)
  }

  private func runAt(_ session: Session) throws -> Int64 {
    try session.execute("SELECT run_at FROM job").single().get(0)
  }
}
