import Glibc
import Platform

/// PostgreSQL's server programs.
struct Binaries: Equatable {
  /// The folder with `initdb` and `postgres`.
  let folder: String
  /// The major version, such as 15.
  let version: Int

  static let minVersion = 13

  var initdb: String { "\(folder)/initdb" }
  var postgres: String { "\(folder)/postgres" }
  var checksums: String { "\(folder)/pg_checksums" }
  var dump: String { "\(folder)/pg_dump" }
  var restore: String { "\(folder)/pg_restore" }

  /// The version to find.
  enum Wanted: Equatable {
    case newest
    case version(Int)
    /// The version that created the database.
    case creator(Int)

    var number: Int? {
      switch self {
      case .newest: nil
      case .version(let number), .creator(let number): number
      }
    }

    var name: String {
      switch self {
      case .newest: "PostgreSQL \(minVersion) or newer"
      case .version(let number): "PostgreSQL \(number)"
      case .creator(let number): "PostgreSQL \(number), which created the database,"
      }
    }
  }

  /// The folders that are searched for programs: those of `TAKE5_POSTGRES_BIN` if it is set, otherwise Debian's and
  /// those of `PATH`.
  static func folders(_ environment: (String) -> String?) -> [String] {
    if let chosen = environment("TAKE5_POSTGRES_BIN") { return chosen.split(separator: ":").map(String.init) }
    let debian = "/usr/lib/postgresql"
    let versions = ((try? Folder.names(in: debian)) ?? []).compactMap(Int.init).sorted(by: >)
    return versions.map { "\(debian)/\($0)/bin" } + (environment("PATH") ?? "").split(separator: ":").map(String.init)
  }

  /// Finds the programs of a version; throws if they are not installed.
  static func find(
    _ wanted: Wanted, environment: (String) -> String?
  ) throws(EmbeddedPostgresError) -> Binaries {
    let folders = folders(environment)
    let found = folders.compactMap { folder -> Binaries? in
      guard access("\(folder)/initdb", X_OK) == 0, access("\(folder)/postgres", X_OK) == 0 else { return nil }
      return version(of: folder, program: "postgres").map { Binaries(folder: folder, version: $0) }
    }
    let usable = found.filter { $0.version >= minVersion && (wanted.number ?? $0.version) == $0.version }
    if let best = usable.max(by: { $0.version < $1.version }) { return best }
    throw EmbeddedPostgresError(
      "\(wanted.name) is not installed: no initdb and postgres in \(folders.joined(separator: ", "))",
      remedy: remedy(wanted, newest: found.map(\.version).max()))
  }

  /// What makes a version available. An upgrade of the distribution may have removed the one that created the database.
  private static func remedy(_ wanted: Wanted, newest: Int?) -> String {
    let install = "Install it (Debian: apt-get install postgresql\(wanted.number.map { "-\($0)" } ?? ""))"
    if case .creator(let former) = wanted, let newest, newest > former {
      return "\(install); where Debian has PostgreSQL \(newest) instead, with the sources of the release before it: "
        + "docs/backup.md, 'Another release of Debian'. Then 'take5 database upgrade' changes to \(newest). "
        + "Or set TAKE5_POSTGRES_BIN to its folder"
    }
    return "\(install), or set TAKE5_POSTGRES_BIN to its folder, or use an existing server with --database"
  }

  /// Finds the programs of a version with the environment of this process.
  static func installed(_ wanted: Wanted) throws(EmbeddedPostgresError) -> Binaries {
    try find(wanted) { getenv($0).map { String(cString: $0) } }
  }

  // From the path, as Debian names its folders, or from the output "postgres (PostgreSQL) 15.4 (Debian 15.4-1)".
  static func version(of folder: String, program: String) -> Int? {
    let parts = folder.split(separator: "/")
    if parts.last == "bin", let version = parts.dropLast().last.flatMap({ Int($0) }) { return version }
    guard let pipe = popen("'\(folder.replacing("'", with: "'\\''"))/\(program)' --version", "r") else { return nil }
    defer { pclose(pipe) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), pipe) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let number = text.split(separator: " ").first { $0.first?.isNumber == true }
    return number.flatMap { Int($0.prefix(while: \.isNumber)) }
  }
}
