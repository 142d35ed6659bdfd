import Logging
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import QueueWorker
import Testing

@Suite("Short jobs", .tags(.database))
struct ShortJobTests {
  @Test("each is done once, with what it writes, and one that fails takes no other with it")
  func effects() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in
        try JobQueue.enqueue((0..<300).map { job($0, kind: $0 == 7 ? "bad" : "good") }, session)
      }
      let over = OneShot<Void>()
      let worker = worker(url, pool) { job, session in
        try session.execute("INSERT INTO effect (job) VALUES ($1)", .integer(job.id))
        if job.kind == "bad" { throw Failure() }
        return .completed()
      } onIdle: { left in
        if left == 0 { over.fulfil(()) }
      }
      async let running: Void = worker.run()
      await over.value
      worker.stop()
      try await running
      try await pool.run { session in
        #expect(try session.execute("SELECT FROM effect").count == 299)
        #expect(try session.execute("SELECT DISTINCT job FROM effect").count == 299)
        #expect(try JobQueue.list(JobFilter(states: [.completed], limit: 1000), session).count == 299)
        let failed = try JobQueue.list(JobFilter(kind: "bad"), session)
        #expect(failed.map(\.state) == [.dead])
        #expect(failed.first?.error == "it was bad")
        #expect(try session.execute("SELECT FROM worker").isEmpty)
      }
    }
  }

  @Test("a worker that is asked to end gives back what it has not begun")
  func drain() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in try JobQueue.enqueue((0..<100).map { job($0) }, session) }
      let worker = Shared<QueueWorker?>(nil)
      let running = self.worker(url, pool) { job, session in
        try session.execute("INSERT INTO effect (job) VALUES ($1)", .integer(job.id))
        if job.arguments == Array(#"{"number": 41}"#.utf8) { worker.withLock { $0 }?.stop() }
        return .completed()
      }
      worker.withLock { $0 = running }
      try await running.run()
      try await pool.run { session in
        #expect(try session.execute("SELECT FROM effect").count == 42)
        let back = try JobQueue.list(JobFilter(states: [.available], limit: 1000), session)
        #expect(back.count == 58)
        #expect(back.allSatisfy { $0.attempt == 0 })
        #expect(try session.execute("SELECT FROM job_group").isEmpty)
      }
    }
  }

  @Test("a worker whose connection is cut in the middle of a group begins it again")
  func lostConnection() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in try JobQueue.enqueue((0..<50).map { job($0) }, session) }
      let over = OneShot<Void>()
      let isCut = CancellationFlag()
      let worker = worker(url, pool) { job, session in
        if job.arguments == Array(#"{"number": 20}"#.utf8), !isCut.isCancelled {
          isCut.cancel()
          try session.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        }
        try session.execute("INSERT INTO effect (job) VALUES ($1)", .integer(job.id))
        return .completed()
      } onIdle: { left in
        if left == 0 { over.fulfil(()) }
      }
      async let running: Void = worker.run()
      await over.value
      worker.stop()
      try await running
      #expect(isCut.isCancelled)
      try await Self.expectAllDone(50, pool)
    }
  }

  @Test("a server that takes no writes in the middle of a group costs no job its attempt")
  func readOnlyTransaction() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in try JobQueue.enqueue((0..<50).map { job($0) }, session) }
      let over = OneShot<Void>()
      let refusals = Shared(3)
      let worker = worker(url, pool) { job, session in
        let isRefused = refusals.withLock { left in
          guard left > 0, job.arguments == Array(#"{"number": 20}"#.utf8) else { return false }
          left -= 1
          return true
        }
        if isRefused { try session.execute("SET LOCAL transaction_read_only = on") }
        try session.execute("INSERT INTO effect (job) VALUES ($1)", .integer(job.id))
        return .completed()
      } onIdle: { left in
        if left == 0 { over.fulfil(()) }
      }
      async let running: Void = worker.run()
      await over.value
      worker.stop()
      try await running
      #expect(refusals.withLock { $0 } == 0)
      try await Self.expectAllDone(50, pool)
    }
  }

  @Test("a database that takes no writes for a while, and then does again, is worked on as before")
  func readOnlyDatabase() async throws {
    try await withQueue { pool, url in
      try await pool.run { session in try JobQueue.enqueue((0..<50).map { job($0) }, session) }
      let over = OneShot<Void>()
      let refused = OneShot<Void>()
      let isTurned = CancellationFlag()
      let log = Logger { line in
        if line.contains("short jobs could not be worked off"), line.contains("25006") { refused.fulfil(()) }
      }
      let worker = worker(url, pool, log: log) { job, session in
        if job.arguments == Array(#"{"number": 20}"#.utf8), !isTurned.isCancelled {
          isTurned.cancel()
          try setReadOnly(true, url)
        }
        try session.execute("INSERT INTO effect (job) VALUES ($1)", .integer(job.id))
        return .completed()
      } onIdle: { left in
        if left == 0 { over.fulfil(()) }
      }
      async let running: Void = worker.run()
      await refused.value
      try setReadOnly(false, url)
      await over.value
      worker.stop()
      try await running
      try await Self.expectAllDone(50, pool)
    }
  }

  // MARK: Support

  private static func expectAllDone(_ count: Int, _ pool: Pool) async throws {
    try await pool.run { session in
      #expect(try session.execute("SELECT FROM effect").count == count)
      let done = try JobQueue.list(JobFilter(states: [.completed], limit: 1000), session)
      #expect(done.count == count)
      #expect(done.allSatisfy { $0.attempt == 1 && $0.lost == 0 })
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    var description: String { "it was bad" }
  }

  private struct Handler: ShortJobHandler {
    let body: @Sendable (ClaimedJob, Session) throws -> MemberEnding

    func carryOut(_ job: ClaimedJob, _ session: Session) throws -> MemberEnding { try body(job, session) }
  }

  private static let template = TestTemplate(name: "queue_worker") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try JobQueue.prepareHistory(session)
    try session.executeScript("CREATE TABLE effect (job bigint NOT NULL)", name: "effect")
  }

  private func withQueue(_ body: @escaping @Sendable (Pool, DatabaseURL) async throws -> Void) async throws {
    try await withDatabase(Self.template) { url in
      let pool = Pool(url, size: 3)
      try await body(pool, url)
      await pool.close()
    }
  }

  private func job(_ number: Int, kind: String = "good") -> NewJob {
    NewJob(
      publicID: .now(), queue: "tasks", kind: kind, maxAttempts: 1, deadlineSeconds: 60,
      arguments: Array(#"{"number": \#(number)}"#.utf8))
  }

  /// - Parameter onIdle: told, several times a second, how many jobs are not over.
  private func worker(
    _ url: DatabaseURL, _ pool: Pool, log: Logger = Logger { _ in },
    _ body: @escaping @Sendable (ClaimedJob, Session) throws -> MemberEnding,
    onIdle: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> QueueWorker {
    let look = Chore("look", every: .zero) { pool in
      onIdle(
        try await pool.run { session in
          try session.execute("SELECT FROM job").count + session.execute("SELECT FROM job_group").count
        })
    }
    return QueueWorker(
      configuration: QueueWorkerConfiguration(pollInterval: .milliseconds(50)), database: url, pool: pool,
      lines: [.short(queue: "tasks", handler: Handler(body: body))], chores: [look], log: log,
      metrics: Metrics())
  }
}
