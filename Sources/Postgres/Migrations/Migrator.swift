import Glibc

/// Brings a database's schema up to what the program needs.
///
/// All missing steps run in one transaction under an advisory lock of that transaction, so that any number of
/// processes may try at once, behind a pooler too: one does it, the others find it done.
package struct Migrator: Sendable {
  private let migrations: [Migration]

  // Any number that nobody else takes; it spells "take5" in ASCII.
  private static let lock: Int64 = 0x74_61_6B_65_35

  /// Migrations in the order of their versions.
  package init(_ migrations: [Migration]) {
    self.migrations = migrations.sorted { $0.version < $1.version }
    precondition(Set(migrations.map(\.version)).count == migrations.count, "two migrations have one version")
  }

  // Whoever wants a table of which a step waits for a lock has to wait so long with it.
  private static let lockTimeout = "500ms"

  /// Runs what is missing and returns it; a database newer than the program is left as it is.
  ///
  /// A lock that another session holds, a dump's for instance, is tried for again and again, so that others get their turn
  /// in between.
  ///
  /// - Parameters:
  ///   - timeout: how long to go on with that.
  ///   - onWait: called when the first lock could not be had.
  @discardableResult
  package func migrate(
    _ session: Session, timeout: Duration = .seconds(600), onWait: (PostgresError) -> Void = { _ in }
  ) throws -> [Migration] {
    let limit = ContinuousClock.now + timeout
    var hasWaited = false
    while try !missing(session).isEmpty {
      do {
        return try migrateAtOnce(session)
      } catch let error as PostgresError where error.isLockTimeout {
        guard ContinuousClock.now < limit else {
          throw PostgresError(
            .server, error.message, sqlState: error.sqlState, statement: error.statement,
            remedy: "Another session holds the lock for long, as pg_dump does: wait for its end, or end it")
        }
        if !hasWaited { onWait(error) }
        hasWaited = true
        // The thread is the connection's own: nobody else waits for it.
        usleep(500_000)
      }
    }
    return []
  }

  private func migrateAtOnce(_ session: Session) throws -> [Migration] {
    try session.transaction { session in
      // An index of a large table takes as long as it takes.
      try session.execute("SET LOCAL statement_timeout = 0")
      try session.executeScript("SET LOCAL lock_timeout = '\(Self.lockTimeout)'", name: "lock_timeout")
      try session.execute("SELECT pg_advisory_xact_lock($1::bigint)", .integer(Self.lock))
      try session.executeScript(
        """
        CREATE TABLE IF NOT EXISTS schema_migration (
          version int PRIMARY KEY,
          name text NOT NULL,
          applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
        )
        """, name: "schema_migration")
      let missing = try missing(session)
      for migration in missing {
        try session.executeScript(migration.script, name: "migration \(migration.version) \(migration.name)")
        try session.execute(
          "INSERT INTO schema_migration (version, name) VALUES ($1, $2)", .integer(migration.version),
          .text(migration.name))
      }
      return missing
    }
  }

  /// Whether the database has a schema of ours, of whatever version.
  package static func hasSchema(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute("SELECT to_regclass('schema_migration') IS NOT NULL").single().get(0)
  }

  private func missing(_ session: Session) throws(PostgresError) -> [Migration] {
    guard try Self.hasSchema(session) else {
      return migrations
    }
    var applied: Set<Int> = []
    for row in try session.execute("SELECT version FROM schema_migration") { applied.insert(try row.get("version")) }
    return migrations.filter { !applied.contains($0.version) }
  }
}
