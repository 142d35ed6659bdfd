import Glibc
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// Signals to services and workers that migrate the schema, which may take hours.
@Suite("Signals during a migration", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct MigrationSignalTests {
  /// What the migration waits for.
  enum Wait: CaseIterable {
    /// The end of a long statement.
    case statement
    /// Another process that migrates.
    case lock

    var begin: String {
      switch self {
      case .statement:
        """
        CREATE FUNCTION wait_long() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3600); END $$;
        CREATE EVENT TRIGGER wait_long ON ddl_command_start EXECUTE FUNCTION wait_long()
        """
      case .lock: "SELECT pg_advisory_lock(x'74616B6535'::bigint)"
      }
    }

    var end: String {
      switch self {
      case .statement: "DROP EVENT TRIGGER wait_long; DROP FUNCTION wait_long()"
      case .lock: "SELECT pg_advisory_unlock_all()"
      }
    }
  }

  private static let waiting =
    "FROM pg_stat_activity WHERE datname = current_database() AND wait_event IN ('PgSleep', 'advisory')"
  private static let forgetLast =
    "UPDATE schema_migration SET version = -version WHERE version = (SELECT max(version) FROM schema_migration)"
  private static let recallLast = "UPDATE schema_migration SET version = -version WHERE version < 0"

  @Test(
    "a signal ends the migration of a starting service or worker, and the next start goes on",
    arguments: [["serve", "--listen", "127.0.0.1:0", "--slots", "0"], ["worker"]], Wait.allCases)
  func named(_ command: [String], _ wait: Wait) async throws {
    try await withDatabase { database in
      let folder = try TemporaryFolder(prefix: "t5")
      let data = "\(folder.path)/data"
      try Folder.make(data, mode: 0o700)
      let store = ["--data", data, "--database", database.connectionString]
      let session = try Session.connect(database, timeout: .seconds(5))
      let isWorker = command == ["worker"]
      if isWorker {
        let made = try await Take5Command.run(["init"] + store)
        try #require(made.status == 0, "\(made)")
        try session.executeScript(Self.forgetLast, name: "test")
      }
      try session.executeScript(wait.begin, name: "test")
      let arguments = command + store + ["--log-format", "text"]
      let process = try RunningTake5()
      _ = try await process.start(arguments, printsFirstLine: false)
      let sessions = Statement(name: "test", text: "SELECT \(Self.waiting)")
      try await until { try !session.execute(sessions).isEmpty }
      await process.send(signal: SIGTERM)
      #expect(await process.wait() == 0, "\(process.log)")
      #expect(process.log.contains("stopping"), "\(process.log)")
      // The server does not go on with it.
      try await until { try session.execute(sessions).isEmpty }
      if !isWorker { #expect(try session.execute("SELECT to_regclass('post') IS NULL").single().get(0) == true) }

      try session.executeScript(wait.end, name: "test")
      if isWorker { try session.executeScript(Self.recallLast, name: "test") }
      let next = try RunningTake5()
      _ = try await next.start(arguments, printsFirstLine: false)
      #expect(await next.waitForLog(isWorker ? "worker started" : "listening"), "\(next.log)")
      await next.send(signal: SIGTERM)
      #expect(await next.wait() == 0, "\(next.log)")
    }
  }

  @Test("an embedded database shuts down in order after a signal during a migration")
  func embedded() async throws {
    let service = try await Service(workers: 0)
    try await service.execute("\(Self.forgetLast); \(Wait.statement.begin)")
    #expect(try await service.stop() == 0)
    let process = try RunningTake5()
    _ = try await process.start(
      ["serve", "--listen", "127.0.0.1:0", "--slots", "0", "--data", service.data, "--log-format", "text"],
      printsFirstLine: false)
    try await until { (try? await service.count("SELECT count(*) \(Self.waiting)")) == 1 }
    await process.send(signal: SIGTERM)
    #expect(await process.wait() == 0, "\(process.log)")
    #expect(access("\(service.data)/postgres.url", F_OK) != 0)
    let log = String(decoding: try Service.bytes(of: "\(service.data)/postgres.log"), as: UTF8.self)
    #expect(log.hasSuffix("database system is shut down\n"), "\(log.suffix(500))")
  }
}
