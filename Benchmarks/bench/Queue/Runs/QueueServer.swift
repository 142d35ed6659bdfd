internal import EmbeddedPostgres
internal import Platform
internal import Postgres

/// One PostgreSQL for all contestants, safe against power loss, with a database for each.
final class QueueServer {
  private let server: EmbeddedPostgres
  private let control: Session

  /// The thread that calls must outlive it.
  init(folder: String) throws {
    server = try EmbeddedPostgres.start(EmbeddedPostgres.Configuration(dataFolder: folder))
    control = try Session.connect(server.url.with(database: "postgres"), timeout: .seconds(5))
    let safety = try control.execute("SELECT current_setting('fsync') || current_setting('synchronous_commit')")
    guard try safety.single().get(0, as: String.self) == "onon" else {
      throw BenchError("this PostgreSQL does not wait for the disk")
    }
  }

  func stop() { server.stop() }

  /// An empty database, in place of one of the same name.
  func make(_ name: String) throws -> DatabaseURL {
    try drop(name)
    try control.executeScript("CREATE DATABASE \(name)", name: "bench.create")
    return server.url.with(database: name)
  }

  /// The database must not be in use any more.
  func drop(_ name: String) throws {
    try control.executeScript("DROP DATABASE IF EXISTS \(name) WITH (FORCE)", name: "bench.drop")
  }

  /// Brings a database to rest, so that none has to do the work of another's time.
  func settle(_ database: DatabaseURL, vacuums: Bool = false) throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    try session.executeScript(vacuums ? "VACUUM (ANALYZE)" : "ANALYZE", name: "bench.settle")
    try session.executeScript("CHECKPOINT", name: "bench.checkpoint")
  }

  /// Runs `body` while somebody else looks at the database as it was before, and so keeps what dies from being removed.
  func pinning<Result>(_ database: DatabaseURL, _ body: () throws -> Result) throws -> Result {
    try Session.connect(database, timeout: .seconds(5)).snapshot { session in
      try session.execute("SELECT FROM pg_class LIMIT 1")
      return try body()
    }
  }

  /// The one number that a statement gives.
  func number(_ statement: String, in database: DatabaseURL) throws -> Int {
    let session = try Session.connect(database, timeout: .seconds(5))
    return Int(try session.execute(Statement(stringLiteral: statement)).single().get(0, as: Int64.self))
  }

  /// What was written until now.
  func cost(of database: DatabaseURL) throws -> QueueCost {
    let dead = try number("SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables", in: database)
    let row = try control.execute(
      """
      SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS wal, xact_commit AS commits
      FROM pg_stat_database WHERE datname = $1
      """, .text(database.database)
    ).single()
    return QueueCost(
      walBytes: Double(try row.get("wal", as: Int64.self)), commits: Double(try row.get("commits", as: Int64.self)),
      deadTuples: Double(dead))
  }
}
