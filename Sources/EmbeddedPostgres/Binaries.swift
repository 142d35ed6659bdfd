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

  /// Finds the newest installed version, or the version that created a cluster.
  ///
  /// Searches only `TAKE5_POSTGRES_BIN` if it is set, otherwise Debian's folders and `PATH`.
  static func find(
    version wanted: Int? = nil, environment: (String) -> String?
  ) throws(EmbeddedPostgresError) -> Binaries {
    var folders: [String] = []
    if let chosen = environment("TAKE5_POSTGRES_BIN") {
      folders = [chosen]
    } else {
      let debian = "/usr/lib/postgresql"
      let versions = ((try? Folder.names(in: debian)) ?? []).compactMap(Int.init).sorted(by: >)
      folders = versions.map { "\(debian)/\($0)/bin" }
      folders += (environment("PATH") ?? "").split(separator: ":").map(String.init)
    }
    let found = folders.compactMap { folder -> Binaries? in
      guard access("\(folder)/initdb", X_OK) == 0, access("\(folder)/postgres", X_OK) == 0 else { return nil }
      return version(of: folder).map { Binaries(folder: folder, version: $0) }
    }
    let usable = found.filter { $0.version >= minVersion && (wanted == nil || $0.version == wanted) }
    if let best = usable.max(by: { $0.version < $1.version }) { return best }
    let name = wanted.map { "PostgreSQL \($0), which created the database," } ?? "PostgreSQL \(minVersion) or newer"
    throw EmbeddedPostgresError(
      "\(name) is not installed: no initdb and postgres in \(folders.joined(separator: ", "))",
      remedy: "Install it (Debian: apt-get install postgresql), or set TAKE5_POSTGRES_BIN to its folder, "
        + "or use an existing server with --database")
  }

  // From the path, as Debian names its folders, or from the output "postgres (PostgreSQL) 15.4 (Debian 15.4-1)".
  private static func version(of folder: String) -> Int? {
    let parts = folder.split(separator: "/")
    if parts.last == "bin", let version = parts.dropLast().last.flatMap({ Int($0) }) { return version }
    guard let pipe = popen("'\(folder.replacing("'", with: "'\\''"))/postgres' --version", "r") else { return nil }
    defer { pclose(pipe) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), pipe) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let number = text.split(separator: " ").first { $0.first?.isNumber == true }
    return number.flatMap { Int($0.prefix(while: \.isNumber)) }
  }
}
