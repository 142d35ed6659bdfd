import FoundationEssentials
import Glibc
import Postgres
import PostgresTesting
import Rooms
import Store
import Testing

/// `docs/compatibility.md` names what each migration that follows the baseline locks of the tables of a store. `TAKE5_WRITE_DOCS=1` writes it.
@Suite("Locks of migrations", .tags(.database))
struct MigrationLockTests {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
  private static let path = "\(root)/docs/compatibility.md"
  private static let dump = "\(root)/Tests/StoreTests/Versions/v0147.sql"
  private static let begin = "<!-- written by a test: begin -->\n"
  private static let end = "<!-- written by a test: end -->"

  @Test("docs/compatibility.md names the strongest lock of each table that each migration takes")
  func documented() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(30))
      let dump = String(decoding: try Data(contentsOf: URL(filePath: Self.dump)), as: UTF8.self)
      try session.executeScript(dump, name: "dump")
      var lines = ["| migration | `ACCESS EXCLUSIVE` | `SHARE ROW EXCLUSIVE` | `SHARE` |", "|---|---|---|---|"]
      for migration in [Migration].all where migration.versions.count == 1 {
        let locks = try Self.locks(of: migration, session)
        let names = ["AccessExclusiveLock", "ShareRowExclusiveLock", "ShareLock"].map { mode in
          let tables = locks.filter { $0.mode == mode }.map { "`\($0.table)`" }
          return tables.isEmpty ? "-" : tables.joined(separator: ", ")
        }
        lines.append("| \(migration.version) \(migration.name) | \(names.joined(separator: " | ")) |")
      }
      let table = lines.map { $0 + "\n" }.joined()
      let text = String(decoding: try Data(contentsOf: URL(filePath: Self.path)), as: UTF8.self)
      let head = try #require(text.firstRange(of: Self.begin))
      let tail = try #require(text[head.upperBound...].firstRange(of: Self.end))
      let written = text[..<head.upperBound] + table + text[tail.lowerBound...]
      if getenv("TAKE5_WRITE_DOCS") != nil { try Data(written.utf8).write(to: URL(filePath: Self.path)) }
      #expect(text[head.upperBound..<tail.lowerBound] == table)
    }
  }

  /// Applies a migration; returns the strongest lock of each table that there was before.
  private static func locks(
    of migration: Migration, _ session: Session
  ) throws -> [(table: String, mode: String)] {
    let tables = """
      SELECT oid, relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      """
    return try session.transaction { session in
      try session.executeScript("CREATE TEMPORARY TABLE before ON COMMIT DROP AS \(tables)", name: "before")
      try session.executeScript(migration.script, name: migration.name)
      let rows = try session.execute(
        """
        SELECT DISTINCT ON (before.oid) name, mode
        FROM before JOIN pg_locks ON relation = before.oid
        WHERE pid = pg_backend_pid() AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
        ORDER BY before.oid, array_position(ARRAY['AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock'], mode)
        """)
      return try rows.map { (table: try $0.get("name"), mode: try $0.get("mode")) }.sorted { $0.0 < $1.0 }
    }
  }
}
