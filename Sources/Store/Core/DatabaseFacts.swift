package import Postgres

/// What a service needs to know of its database, and of the role that it connects as.
package struct DatabaseFacts: Sendable, Hashable {
  /// The oldest version of the server that is supported, as `server_version_num` writes it.
  package static let minVersionNumber = 130_000

  /// The version of the server, such as `15.14`, and its `server_version_num`.
  package var version: String
  package var versionNumber: Int
  package var role: String
  /// Whether the server refuses writes, as a standby does.
  package var isReadOnly: Bool
  /// The versions of the schema that were applied; empty if there is no schema.
  package var applied: Set<Int>
  /// Whether the role may create tables.
  package var mayCreate: Bool
  /// Whether the role has the rights of the owner of the tables.
  package var isOwner: Bool
  /// The tables that the role may not read or write.
  package var closedTables: [String]
  /// Whether the server compares each page that it reads from the disk with a checksum.
  package var hasChecksums: Bool
  /// The number of times that a checksum was wrong.
  package var checksumFailures: Int

  package init(
    version: String, versionNumber: Int, role: String, isReadOnly: Bool, applied: Set<Int>, mayCreate: Bool,
    isOwner: Bool, closedTables: [String], hasChecksums: Bool, checksumFailures: Int
  ) {
    self.version = version
    self.versionNumber = versionNumber
    self.role = role
    self.isReadOnly = isReadOnly
    self.applied = applied
    self.mayCreate = mayCreate
    self.isOwner = isOwner
    self.closedTables = closedTables
    self.hasChecksums = hasChecksums
    self.checksumFailures = checksumFailures
  }

  /// Reads the facts; the database may have no schema.
  package init(_ session: Session) throws(PostgresError) {
    let row = try session.execute(Store.statements["database_facts"]).single()
    self.init(
      version: try row.get("version"), versionNumber: try row.get("version_number"), role: try row.get("role"),
      isReadOnly: try row.get("is_read_only"), applied: try Migrator.applied(session),
      mayCreate: try row.get("may_create"), isOwner: try row.get("is_owner"),
      closedTables: try row.get("closed_tables", as: String.self).split(separator: " ").map(String.init),
      hasChecksums: try row.get("has_checksums"), checksumFailures: try session.checksumFailures())
  }

  /// Whether the database has tables, of take5 or of another program.
  package static func isInUse(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Store.statements["has_relations"]).single().get("has_relations")
  }

  /// The major version of the server, such as 15.
  package var majorVersion: Int { versionNumber / 10_000 }

  /// The migrations, of all that this program knows, that the next start of a service applies.
  package func pending(_ known: [Migration]) -> [Migration] { known.filter { !applied.contains($0.version) } }

  /// The versions of the schema that this program does not know.
  package func unknown(_ known: [Migration]) -> [Int] { applied.subtracting(known.flatMap(\.versions)).sorted() }
}
