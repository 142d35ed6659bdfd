import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@Suite("Partitions of the history", .tags(.database), .timeLimit(.minutes(60)))
struct HistoryTests {
  /// No statement of these tests takes this long, unless it waits for a lock that is not released.
  private static let statementLimit = Duration.seconds(10)

  @Test("a dump blocks no worker while partitions are missing, and they are created when it ends")
  func dump() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let limited = url.with(statementLimit: Self.statementLimit)
      let dump = try Session.connect(url, timeout: .seconds(5))
      let (maintenance, worker) = (Pool(limited, size: 1), try Connection(limited, name: "worker"))
      let missing = try await maintenance.run { session in try Self.dropLastDay(session) }
      try Self.beginDump(dump)
      let isPrepared = CancellationFlag()
      async let prepared: Void = {
        defer { isPrepared.cancel() }
        for _ in 0..<3 { try await JobHistory.prepare(maintenance) }
      }()
      // Meanwhile jobs are completed, read and reaped.
      var completed = 0
      let deadline = Deadline("three preparations")
      repeat {
        try deadline.check()
        completed += try await worker.run { session in
          try Self.completeOne(session)
          return 1
        }
      } while !isPrepared.isCancelled
      try await prepared
      let counted = try await worker.run { session in
        try session.execute("SELECT count(*) FROM job_done").single().get(0, as: Int.self)
      }
      #expect(counted == completed)
      #expect(try await maintenance.run { try !Self.exists(missing, $0) })

      try dump.executeScript("COMMIT", name: "dump")
      #expect(try await JobHistory.prepare(maintenance))
      #expect(try await maintenance.run { try Self.exists(missing, $0) })
    }
  }

  @Test("a change of the partitions that the server has rolled back because of a concurrent transaction is repeated")
  func conflict() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      let missing = try await pool.run { session in
        let missing = try Self.dropLastDay(session)
        try session.executeScript(
          """
          CREATE TABLE job_done_20200101 PARTITION OF job_done FOR VALUES FROM ('2020-01-01Z') TO ('2020-01-02Z');
          CREATE SEQUENCE attempts;
          CREATE FUNCTION fail_twice() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('attempts') IN (1, 4) THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'deadlock_detected'; END IF;
          END $$;
          CREATE EVENT TRIGGER fail_twice ON ddl_command_start EXECUTE FUNCTION fail_twice();
          """, name: "fail_twice")
        return missing
      }
      #expect(try await JobHistory.prepare(pool))
      #expect(try await pool.run { try Self.exists(missing, $0) })
      // Two statements have made the partition.
      try await JobHistory.drop(olderThanDays: 30, pool)
      #expect(try await pool.run { try !Self.exists("job_done_20200101", $0) })
      await pool.close()
    }
  }

  @Test("while a dump reads, a missing partition of tomorrow is reported, and a later one is not")
  func reported() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let dump = try Session.connect(url, timeout: .seconds(5))
      let maintenance = Pool(url.with(statementLimit: Self.statementLimit), size: 1)
      _ = try await maintenance.run { try Self.dropLastDay($0) }
      try Self.beginDump(dump)
      #expect(try await JobHistory.prepare(maintenance))
      try dump.executeScript("COMMIT", name: "dump")
      _ = try await maintenance.run { try Self.drop(dayAhead: 1, $0) }
      try Self.beginDump(dump)
      #expect(try await !JobHistory.prepare(maintenance))
      try dump.executeScript("COMMIT", name: "dump")
      #expect(try await JobHistory.prepare(maintenance))
    }
  }

  @Test("an attached partition has the indexes, the checks and the defaults of the history")
  func sameShape() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      try session.executeScript(
        "CREATE TABLE job_done_20000101 PARTITION OF job_done FOR VALUES FROM ('2000-01-01Z') TO ('2000-01-02Z')",
        name: "day")
      let shapes = try session.execute(
        """
        SELECT relname AS name,
          (SELECT array_agg(regexp_replace(pg_get_indexdef(indexrelid), 'job_done_\\d+', '', 'g') ORDER BY pg_get_indexdef(indexrelid))::text
           FROM pg_index WHERE indrelid = day.oid)
          || (SELECT array_agg(attname || attnotnull::text || coalesce(pg_get_expr(adbin, adrelid), '') ORDER BY attnum)
              FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
              WHERE attrelid = day.oid AND attnum > 0)::text
          || (SELECT array_agg(pg_get_constraintdef(oid) ORDER BY conname) FROM pg_constraint WHERE conrelid = day.oid)::text
          AS shape
        FROM pg_inherits JOIN pg_class AS day ON day.oid = inhrelid
        WHERE inhparent = 'job_done'::regclass AND relname <> 'job_done_rest'
        """)
      #expect(shapes.count == 9)
      let different = Set(try shapes.map { try $0.get("shape", as: String.self) })
      #expect(different.count == 1, "\(different)")
    }
  }

  /// Opens a transaction and locks the tables as pg_dump does.
  private static func beginDump(_ session: Session) throws {
    try session.executeScript(
      "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; LOCK TABLE job_done, job_done_rest IN ACCESS SHARE MODE",
      name: "dump")
  }

  private static func completeOne(_ session: Session) throws {
    let job = QueueDatabase.job()
    try JobQueue.enqueue(job, session)
    let worker = try JobQueue.register(host: "here", process: 1, session)
    let claimed = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
    try JobQueue.complete(claimed, .accepted, result: nil, session)
    #expect(try JobQueue.find(job.publicID, session)?.state == .completed)
    _ = try JobQueue.reap(session)
  }

  private static func dropLastDay(_ session: Session) throws -> String { try drop(dayAhead: 7, session) }

  private static func drop(dayAhead days: Int, _ session: Session) throws -> String {
    let name = try session.execute(
      """
      SELECT 'job_done_' || to_char(clock_timestamp() AT TIME ZONE 'UTC' + make_interval(days => $1::int), 'YYYYMMDD')
      """, .integer(days)
    ).single().get(0, as: String.self)
    try session.executeScript("DROP TABLE IF EXISTS \(name)", name: "drop")
    return name
  }

  private static func exists(_ name: String, _ session: Session) throws -> Bool {
    try session.execute("SELECT to_regclass($1) IS NOT NULL", .text(name)).single().get(0)
  }
}
