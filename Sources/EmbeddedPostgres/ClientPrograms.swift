import Glibc

/// PostgreSQL's client programs that dump and restore a database.
package struct ClientPrograms: Sendable, Equatable {
  package enum Name: String, Sendable {
    case dump = "pg_dump"
    case restore = "pg_restore"
    case shell = "psql"
  }

  private let folder: String

  /// Finds the programs for a server of a major version: those of this version, otherwise the next newer ones, because
  /// `pg_dump` refuses a server that is newer than itself.
  package init(_ names: Name..., forServer version: Int) throws(EmbeddedPostgresError) {
    try self.init(names, forServer: version) { getenv($0).map { String(cString: $0) } }
  }

  init(_ names: [Name], forServer version: Int, environment: (String) -> String?) throws(EmbeddedPostgresError) {
    let folders = Binaries.folders(environment)
    let usable = folders.compactMap { folder -> (folder: String, version: Int)? in
      guard names.allSatisfy({ access("\(folder)/\($0.rawValue)", X_OK) == 0 }) else { return nil }
      return Binaries.version(of: folder, program: names[0].rawValue).map { (folder, $0) }
    }.filter { $0.version >= version }
    guard let best = usable.min(by: { $0.version < $1.version }) else {
      let programs = names.map(\.rawValue).joined(separator: " and ")
      throw EmbeddedPostgresError(
        "the client programs of PostgreSQL \(version) are not installed: no \(programs) of this version or a newer one in "
          + folders.joined(separator: ", "),
        remedy: "Install them (Debian: apt-get install postgresql-client-\(version)), or set TAKE5_POSTGRES_BIN to "
          + "their folder")
    }
    folder = best.folder
  }

  /// The path of a program.
  package func path(_ name: Name) -> String { "\(folder)/\(name.rawValue)" }
}
