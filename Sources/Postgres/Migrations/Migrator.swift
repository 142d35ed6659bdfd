import Glibc
package import Platform

/// Applies the migrations that a database lacks.
///
/// All missing migrations run in one transaction, under an advisory lock of that transaction. So any number of
/// processes may migrate concurrently, even behind a pooler: one applies the migrations, the others find them applied.
package struct Migrator: Sendable {
  private let migrations: [Migration]
  private let first: [String]

  // An arbitrary number: "take5" in ASCII.
  private static let lock: Int64 = 0x74_61_6B_65_35

  /// - Parameter first: the tables that transactions of other processes lock before all others. The migrations wait for them first: they
  ///   would hold what those wait for.
  package init(_ migrations: [Migration], locking first: [String] = []) {
    self.first = first
    self.migrations = migrations.sorted { $0.version < $1.version }
    precondition(Set(migrations.map(\.version)).count == migrations.count, "duplicate migration version")
  }

  // While a migration waits for a lock, later requests for the same table wait behind it.
  private static let lockTimeout = "500ms"

  /// Applies the missing migrations and returns them; a database that is newer than the program does not change.
  ///
  /// If another session, such as pg_dump, holds a lock, the migration is rolled back and repeated, so that other
  /// sessions are not blocked for long. If the task is cancelled, nothing is applied: a statement that runs ends once the connection is
  /// asked to (`Pool.runCancellable`).
  ///
  /// - Parameters:
  ///   - timeout: the time for which it is repeated.
  ///   - onWait: called at the first lock timeout.
  @discardableResult
  package func migrate(
    _ session: Session, timeout: Duration = .seconds(600), onWait: (PostgresError) -> Void = { _ in }
  ) throws -> [Migration] {
    let end = ContinuousClock.now + timeout
    var hasWaited = false
    while try !missing(session).isEmpty {
      try Task.checkCancellation()
      do {
        return try tryMigrate(session)
      } catch let error as PostgresError where error.isLockTimeout {
        guard ContinuousClock.now < end else {
          throw PostgresError(
            .server, error.message, sqlState: error.sqlState, statement: error.statement,
            remedy: "Another session, such as pg_dump, holds the lock: wait until it ends, or terminate it")
        }
        if !hasWaited { onWait(error) }
        hasWaited = true
        // Blocks only the thread of this connection.
        usleep(500_000)
      }
    }
    return []
  }

  private func tryMigrate(_ session: Session) throws -> [Migration] {
    try session.transaction { session in
      // Creating an index on a large table may take long.
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
      for table in missing.isEmpty ? [] : first
      where try session.execute("SELECT to_regclass($1) IS NOT NULL", .text(table)).single().get(0) {
        try session.executeScript("LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE", name: "lock \(table)")
      }
      for migration in missing {
        try Task.checkCancellation()
        try session.executeScript(migration.script, name: "migration \(migration.version) \(migration.name)")
        for version in migration.versions {
          try session.execute(
            "INSERT INTO schema_migration (version, name) VALUES ($1, $2)", .integer(version), .text(migration.name))
        }
      }
      return missing
    }
  }

  /// Whether the database has a schema of take5, of any version.
  package static func hasSchema(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute("SELECT to_regclass('schema_migration') IS NOT NULL").single().get(0)
  }

  /// The versions that were applied to a database; empty without a schema of take5.
  package static func applied(_ session: Session) throws(PostgresError) -> Set<Int> {
    guard try hasSchema(session) else { return [] }
    var applied: Set<Int> = []
    for row in try session.execute("SELECT version FROM schema_migration") { applied.insert(try row.get("version")) }
    return applied
  }

  /// The migrations that a database lacks.
  package func missing(_ session: Session) throws -> [Migration] {
    let applied = try Self.applied(session)
    try check(applied)
    return migrations.filter { !applied.contains($0.version) }
  }

  /// The newest version of the schema that this program does not know; nil: there is none.
  package func newer(_ session: Session) throws -> Int? {
    try Self.applied(session).subtracting(migrations.flatMap(\.versions)).max()
  }

  /// Throws if a database of the applied versions is older than a baseline.
  package func check(_ applied: Set<Int>) throws(OutdatedSchema) {
    for migration in migrations where !applied.contains(migration.version) {
      guard let newest = applied.intersection(migration.versions).max() else { continue }
      throw OutdatedSchema(version: newest)
    }
  }
}

/// A database has the schema of a version whose migrations this program no longer has.
package struct OutdatedSchema: Error, Sendable, Hashable {
  package let version: Int
}

/// One step from a version of the schema to the next; or a baseline, which creates the schema of its version in an empty database.
package struct Migration: Sendable, Hashable {
  /// Determines the order; never reused.
  package let version: Int
  package let name: String
  /// One or more SQL statements, which run in a transaction.
  package let script: String
  /// The versions that are applied with it: its own, and the versions of migrations that a baseline replaces. A program that has
  /// these migrations finds them applied.
  package let versions: [Int]

  /// A migration whose script is a file of the program.
  package init(version: Int, name: String, _ script: EmbeddedText) {
    self.init(baseline: version, replacing: [], name: name, [script])
  }

  /// A baseline whose scripts are files of the program. A database that has only some of the versions is refused.
  package init(baseline version: Int, replacing replaced: [Int], name: String, _ scripts: [EmbeddedText]) {
    self.version = version
    self.name = name
    script = String(decoding: scripts.flatMap(\.bytes), as: UTF8.self)
    versions = replaced + [version]
  }
}
