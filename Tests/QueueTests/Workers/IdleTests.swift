import Model
import Platform
import Postgres
import PostgresTesting
import Telemetry
import Testing
import WaitTesting

@testable import Queue

/// Workers that have nothing to do, with a clock that the test turns and a listener that is connected.
@Suite("Idle workers", .tags(.database), .timeLimit(.minutes(60)))
struct IdleTests {
  private static let queues = ["media", "tasks"]
  /// What the worker whose turn it is repeats: reap, promote, history, vacuum, rows set aside.
  private static let tasks = 5

  /// A handler that counts how often its consumer looks at the queue.
  private struct Counting: JobHandler {
    let looks = Shared(0)
    let started = Shared<[TestClock.Instant]>([])
    let ended = Shared<[PublicID]>([])
    let pool: Pool
    let clock: TestClock

    var takesMore: Bool {
      looks.withLock { $0 += 1 }
      return true
    }

    func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
      started.withLock { $0.append(clock.now) }
      do {
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
      } catch {
        Issue.record(error)
      }
      ended.withLock { $0.append(held.job.publicID) }
      return .healthy
    }
  }

  /// Runs workers with a consumer of each queue while `body` runs; it receives their handlers, by queue.
  private func running(
    _ fixture: ConsumerFixture, workers count: Int = 1, _ body: ([String: Counting]) async throws -> Void
  ) async throws {
    try await fixture.pool.run { try JobQueue.deregister(worker: fixture.worker, $0) }
    let pool = Pool(fixture.url, size: 4)
    let handlers = Dictionary(
      uniqueKeysWithValues: Self.queues.map { ($0, Counting(pool: pool, clock: fixture.clock)) })
    // The lease is measured by the clock of the database, which goes on while the test waits for a busy machine.
    var configuration = QueueWorkerConfiguration(lease: .seconds(1_000_000))
    configuration.heartbeats = 100_000
    configuration.clock = fixture.clock
    let workers = (0..<count).map { [configuration] _ in
      QueueWorker(
        configuration: configuration, database: fixture.url, pool: pool,
        consumers: Self.queues.map { ConsumerConfiguration(queue: $0, slots: 1, handler: handlers[$0]!) },
        log: Logger { _ in }, metrics: Metrics())
    }
    let tasks = workers.map { worker in Task { try await worker.run() } }
    try await sessions(fixture, "query LIKE 'LISTEN%'", are: count)
    let result: Result<Void, any Error>
    do { result = .success(try await body(handlers)) } catch { result = .failure(error) }
    for worker in workers { worker.stop() }
    for task in tasks { try await task.value }
    await pool.close()
    try result.get()
  }

  /// Waits until so many sessions of the workers' database meet a condition; it looks from another database of the server, where a
  /// look is no transaction of theirs.
  private func sessions(_ fixture: ConsumerFixture, _ condition: String, are count: Int) async throws {
    let statement: Statement =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(fixture.url.database ?? "")' AND \(condition)"
    let pool = Pool(fixture.url.with(database: "postgres"), size: 1)
    try await until { try await pool.run { try $0.execute(statement).single().get(0, as: Int.self) } == count }
    await pool.close()
  }

  /// The transactions of workers within five minutes of their clock, except at their start and their end.
  private func transactions(ofWorkers count: Int) async throws -> Int {
    try await transactions(ofWorkers: count, seconds: 300) - transactions(ofWorkers: count, seconds: 0)
  }

  private func transactions(ofWorkers count: Int, seconds: Int) async throws -> Int {
    let deadline = Deadline("workers that keep the turn", within: .seconds(600))
    while true {
      let counted = try await run(workers: count, seconds: seconds)
      // A worker that a busy machine delays loses the turn, and the other one starts the tasks of it again.
      if counted.changes == 0 { return counted.transactions }
      try deadline.check()
    }
  }

  /// Also counts how often the turn changed.
  private func run(workers count: Int, seconds: Int) async throws -> (transactions: Int, changes: Int) {
    let counted = Shared((transactions: 0, changes: 0))
    try await ConsumerFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(
          """
          CREATE TABLE change (worker_id bigint);
          CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO change VALUES (NEW.worker_id); RETURN NEW; END';
          CREATE TRIGGER note AFTER UPDATE ON maintenance_turn
            FOR EACH ROW WHEN (OLD.worker_id <> NEW.worker_id) EXECUTE FUNCTION note()
          """, name: "change")
      }
      let committed: Statement = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
      func sum() async throws -> Int {
        // Sessions add what they have counted when they end; the fixture's own stays.
        try await sessions(fixture, "backend_type = 'client backend'", are: 1)
        return try await fixture.pool.run { session in
          try session.execute("SELECT pg_stat_clear_snapshot()")
          return try session.execute(committed).single().get(0, as: Int.self)
        }
      }
      let before = try await sum()
      // Of each worker: its consumers, the heartbeat, its fence, the progress and the turn. Of one: the tasks of a turn.
      let sleepers = count * (Self.queues.count + 4) + Self.tasks
      try await running(fixture, workers: count) { _ in
        for _ in 0..<(2 * seconds) {
          try await fixture.clock.sleepers(sleepers)
          fixture.clock.advance(by: .milliseconds(500))
        }
        try await fixture.clock.sleepers(sleepers)
      }
      let after = try await sum()
      let changes = try await fixture.pool.run { session in
        try session.execute("SELECT count(*) FROM change").single().get(0, as: Int.self)
      }
      counted.withLock { $0 = (after - before, changes) }
    }
    return counted.withLock { $0 }
  }

  @Test("an idle worker sends at most half a transaction a second, and one worker at most three more for all")
  func idle() async throws {
    let one = try await transactions(ofWorkers: 1)
    #expect(one <= 300 * 3 + 150, "\(one) transactions of one worker")
    // What a busy machine delays is looked at twice: the fewest of three count.
    var second = Int.max
    for _ in 0..<3 where second > 150 { second = min(second, try await transactions(ofWorkers: 2) - one) }
    #expect(second <= 150, "\(second) transactions of the second worker")
  }

  @Test("a notification wakes the consumers of its queue, and no others")
  func ofQueue() async throws {
    try await ConsumerFixture.with { fixture in
      try await running(fixture) { handlers in
        try await fixture.clock.sleepers(Self.queues.count + 4 + Self.tasks)
        let before = handlers["tasks"]?.looks.withLock { $0 }
        let id = try await fixture.enqueue()[0]
        try await fixture.pool.run { try JobQueue.notify(queue: "media", $0) }
        try await until { handlers["media"]?.ended.withLock { $0 } == [id] }
        #expect(handlers["tasks"]?.looks.withLock { $0 } == before)
      }
    }
  }

  @Test("a job whose notification was lost is found within half a minute, and at once when the listener connects again")
  func lost() async throws {
    try await ConsumerFixture.with { fixture in
      try await running(fixture) { handlers in
        let media = try #require(handlers["media"])
        try await fixture.clock.sleepers(Self.queues.count + 4 + Self.tasks)
        let first = try await fixture.enqueue()[0]
        let start = fixture.clock.now
        let deadline = Deadline("the first job")
        while media.ended.withLock({ $0 }) != [first] {
          try deadline.check()
          try await fixture.clock.sleepers(Self.queues.count + 4 + Self.tasks)
          fixture.clock.advance(by: .milliseconds(500))
        }
        // A handler may start while the clock is turned once or twice more.
        #expect(start.duration(to: try #require(media.started.withLock { $0.first })) <= .seconds(32))
        // The clock stands still from here on.
        let second = try await fixture.enqueue()[0]
        try await fixture.pool.run { session in
          _ = try session.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'LISTEN%'
            """)
        }
        try await until { media.ended.withLock { $0 } == [first, second] }
      }
    }
  }
}
