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

  /// Runs what is missing and returns it; a database newer than the program is left as it is.
  @discardableResult
  package func migrate(_ session: Session) throws -> [Migration] {
    try session.transaction { session in
      // An index of a large table takes as long as it takes.
      try session.execute("SET LOCAL statement_timeout = 0")
      try session.execute("SELECT pg_advisory_xact_lock($1::bigint)", .integer(Self.lock))
      try session.executeScript(
        """
        CREATE TABLE IF NOT EXISTS schema_migration (
          version int PRIMARY KEY,
          name text NOT NULL,
          applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
        )
        """, name: "schema_migration")
      let rows = try session.execute("SELECT version FROM schema_migration")
      var applied: Set<Int> = []
      for row in rows { applied.insert(try row.get("version")) }
      let missing = migrations.filter { !applied.contains($0.version) }
      for migration in missing {
        try session.executeScript(migration.script, name: "migration \(migration.version) \(migration.name)")
        try session.execute(
          "INSERT INTO schema_migration (version, name) VALUES ($1, $2)", .integer(migration.version),
          .text(migration.name))
      }
      return missing
    }
  }
}
