internal import EmbeddedPostgres
internal import Platform
internal import Postgres

/// One PostgreSQL for all contestants, with durable commits and a database for each.
final class QueueServer {
  private let server: EmbeddedPostgres
  private let control: Session

  /// Starts the server; the calling thread must outlive it.
  init(folder: String) throws {
    server = try EmbeddedPostgres.start(EmbeddedPostgres.Configuration(dataFolder: folder))
    control = try Session.connect(server.url.with(database: "postgres"), timeout: .seconds(5))
    let durability = try control.execute("SELECT current_setting('fsync') || current_setting('synchronous_commit')")
    guard try durability.single().get(0, as: String.self) == "onon" else {
      throw BenchError("fsync or synchronous_commit is off in this PostgreSQL")
    }
  }

  func stop() { server.stop() }

  /// Creates an empty database; replaces one of the same name.
  func make(_ name: String) throws -> DatabaseURL {
    try drop(name)
    try control.executeScript("CREATE DATABASE \(name)", name: "bench.create")
    return server.url.with(database: name)
  }

  /// Drops a database, with all of its connections.
  func drop(_ name: String) throws {
    try control.executeScript("DROP DATABASE IF EXISTS \(name) WITH (FORCE)", name: "bench.drop")
  }

  /// Updates statistics, optionally removes dead rows, and writes a checkpoint, so that no measurement includes work of
  /// an earlier one.
  func checkpoint(_ database: DatabaseURL, vacuums: Bool = false) throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    try session.executeScript(vacuums ? "VACUUM (ANALYZE)" : "ANALYZE", name: "bench.vacuum")
    try session.executeScript("CHECKPOINT", name: "bench.checkpoint")
  }

  /// Runs `body` while another connection holds a snapshot, so that vacuum cannot remove rows that die meanwhile.
  func withSnapshot<Result>(_ database: DatabaseURL, _ body: () throws -> Result) throws -> Result {
    try Session.connect(database, timeout: .seconds(5)).snapshot { session in
      try session.execute("SELECT FROM pg_class LIMIT 1")
      return try body()
    }
  }

  /// Returns the single number of a statement's result.
  func number(_ statement: String, in database: DatabaseURL) throws -> Int {
    let session = try Session.connect(database, timeout: .seconds(5))
    return Int(try session.execute(Statement(stringLiteral: statement)).single().get(0, as: Int64.self))
  }

  /// Returns the cost since the creation of the database.
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
