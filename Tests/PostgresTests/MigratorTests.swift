import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@Suite("Migrator", .tags(.database), .timeLimit(.minutes(60)))
struct MigratorTests {
  private let first = Migration(
    version: 1, name: "first", EmbeddedText(Array("CREATE TABLE a (id int); CREATE TABLE b (id int);".utf8)))
  private let second = Migration(version: 2, name: "second", EmbeddedText(Array("INSERT INTO a VALUES (7);".utf8)))
  private let broken = Migration(
    version: 3, name: "broken", EmbeddedText(Array("CREATE TABLE c (id int); SELECT 1/0;".utf8)))

  @Test("missing migrations are applied in order, once")
  func runsOnce() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      #expect(try Migrator([first]).migrate(session) == [first])
      #expect(try Migrator([second, first]).migrate(session) == [second])
      #expect(try Migrator([first, second]).migrate(session) == [])
      #expect(try session.execute("SELECT id FROM a").single().get("id") == 7)
    }
  }

  @Test("a failing migration rolls all of them back")
  func allOrNothing() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      let error = #expect(throws: PostgresError.self) { try Migrator([first, second, broken]).migrate(session) }
      #expect(error?.statement == "migration 3 broken")
      #expect(try session.execute("SELECT to_regclass('a') IS NULL").single().get(0) == true)
    }
  }

  @Test("one of several concurrent migrators applies the migrations")
  func concurrent() async throws {
    try await withDatabase { url in
      let migrator = Migrator([first, second])
      let done = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<6 {
          let connection = try Connection(url, name: "migrate-\(number)")
          group.addTask { try await connection.run { try migrator.migrate($0).count } }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(done.sorted() == [0, 0, 0, 0, 0, 2])
    }
  }

  @Test("a migration whose table a dump has locked blocks no reader for long, and is applied in the end")
  func lockedTable() async throws {
    try await withDatabase { url in
      let migrator = Migrator([
        first, Migration(version: 2, name: "wider", EmbeddedText(Array("ALTER TABLE a ADD COLUMN n int".utf8))),
      ])
      let dump = try Session.connect(url, timeout: .seconds(5))
      try Migrator([first]).migrate(dump)
      try dump.executeScript("BEGIN; LOCK TABLE a IN ACCESS SHARE MODE", name: "dump")
      let (migrating, reader) = (
        try Connection(url, name: "migrate"), try Connection(url.with(statementLimit: .seconds(10)), name: "reader")
      )
      let hasWaited = CancellationFlag()
      async let migrated = migrating.run { try migrator.migrate($0, onWait: { _ in hasWaited.cancel() }) }
      let look = try Session.connect(url, timeout: .seconds(5))
      try await until {
        try !look.execute("SELECT FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted").isEmpty
      }
      // If the migration waited for the lock without a timeout, this would wait behind it.
      let reading = await Task { try await reader.run { try $0.execute("SELECT FROM a").count } }.result
      // Until the first lock timeout.
      try await until { hasWaited.isCancelled || (try? reading.get()) == nil }
      try dump.executeScript("COMMIT", name: "dump")
      let done = try await migrated
      #expect(try reading.get() == 0)
      #expect(done.map(\.version) == [2])
    }
  }

  @Test("the migrations lock first what other transactions lock first, and hold nothing for which those wait")
  func lockOrder() async throws {
    try await withDatabase { url in
      let both = Migration(
        version: 3, name: "both",
        EmbeddedText(Array("ALTER TABLE b ADD COLUMN n int; ALTER TABLE a ADD COLUMN n int".utf8)))
      let (ending, migrating) = (try Session.connect(url, timeout: .seconds(5)), try Connection(url, name: "migrate"))
      try Migrator([first, second]).migrate(ending)
      try ending.executeScript("BEGIN; SET LOCAL lock_timeout = '1ms'; DELETE FROM a", name: "end")
      let migrator = Migrator([first, second, both], locking: ["a", "absent"])
      async let migrated = migrating.run { try migrator.migrate($0) }
      let look = try Session.connect(url, timeout: .seconds(5))
      try await until {
        try !look.execute("SELECT FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted").isEmpty
      }
      try ending.executeScript("DELETE FROM b; COMMIT", name: "end")
      #expect(try await migrated.map(\.version) == [3])
    }
  }

  @Test(
    "a migration ends when its task is cancelled and applies nothing, and the next one applies all",
    arguments: ["SELECT pg_sleep(3600)", "LOCK TABLE held"])
  func cancelled(_ script: String) async throws {
    try await withDatabase { url in
      let (holder, look) = (
        try Session.connect(url, timeout: .seconds(5)), try Session.connect(url, timeout: .seconds(5))
      )
      try holder.executeScript("CREATE TABLE held ()", name: "held")
      try holder.executeScript("BEGIN; LOCK TABLE held", name: "held")
      let long = Migration(version: 2, name: "long", EmbeddedText(Array(script.utf8)))
      let (migrator, pool, hasEnded) = (Migrator([first, long]), Pool(url, size: 1), CancellationFlag())
      let migrating = Task {
        defer { hasEnded.cancel() }
        return try await pool.runCancellable { try migrator.migrate($0).count }
      }
      try await until {
        try !look.execute(
          """
          SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND (wait_event = 'PgSleep' OR wait_event_type = 'Lock')
          """
        ).isEmpty
      }
      migrating.cancel()
      try await until { hasEnded.isCancelled }
      await #expect(throws: (any Error).self) { try await migrating.value }
      #expect(try look.execute("SELECT to_regclass('a') IS NULL").single().get(0) == true)
      // The connection is not cancelled any more.
      let migrated = try await pool.run { [first, second] in try Migrator([first, second]).migrate($0) }
      #expect(migrated == [first, second])
      await pool.close()
    }
  }

  @Test("a lock that is held for too long is an error with a remedy")
  func lockedForLong() async throws {
    try await withDatabase { url in
      let (dump, session) = (
        try Session.connect(url, timeout: .seconds(5)), try Session.connect(url, timeout: .seconds(5))
      )
      try Migrator([first]).migrate(session)
      try dump.executeScript("BEGIN; LOCK TABLE a IN ACCESS SHARE MODE", name: "dump")
      let wider = Migration(version: 2, name: "wider", EmbeddedText(Array("ALTER TABLE a ADD COLUMN n int".utf8)))
      let error = #expect(throws: PostgresError.self) {
        try Migrator([first, wider]).migrate(session, timeout: .zero)
      }
      #expect(error?.isLockTimeout == true)
      #expect(error?.remedy?.contains("pg_dump") == true)
    }
  }

  @Test("a program leaves a schema as it is that has more migrations than the program")
  func newerSchema() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      try Migrator([first, second]).migrate(session)
      #expect(try Migrator([first]).migrate(session) == [])
      #expect(try Migrator.applied(session) == [1, 2])
    }
  }

  @Test("an empty database gets a baseline, one with all its versions has it, and one with some of them is refused")
  func baseline() async throws {
    let scripts = ["CREATE TABLE a (id int);", "CREATE TABLE b (id int);"].map { EmbeddedText(Array($0.utf8)) }
    let third = Migration(version: 3, name: "third", scripts[1])
    let baseline = Migration(baseline: 3, replacing: [1, 2], name: "baseline", scripts)
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      #expect(try Migrator([baseline]).migrate(session) == [baseline])
      #expect(try session.execute("SELECT FROM a, b").isEmpty)
      // An earlier program.
      #expect(try Migrator([first, second, third]).migrate(session) == [])
    }
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      try Migrator([first, second]).migrate(session)
      let error = #expect(throws: OutdatedSchema.self) { try Migrator([baseline]).migrate(session) }
      #expect(error?.version == 2)
      try session.execute("INSERT INTO schema_migration (version, name) VALUES (3, 'third')")
      #expect(try Migrator([baseline]).migrate(session) == [])
    }
  }

  @Test("a complete schema needs no lock")
  func nothingMissing() async throws {
    try await withDatabase { url in
      let (other, session) = (
        try Session.connect(url, timeout: .seconds(5)), try Session.connect(url, timeout: .seconds(5))
      )
      try Migrator([first]).migrate(session)
      try other.executeScript("BEGIN; SELECT pg_advisory_xact_lock(x'74616B6535'::bigint)", name: "migrator")
      #expect(try Migrator([first]).migrate(session, timeout: .zero).isEmpty)
    }
  }
}
