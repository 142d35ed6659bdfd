import Glibc
import Platform

/// The paths of one embedded server.
struct Layout: Equatable {
  /// The data folder, absolute and without symbolic links.
  let dataFolder: String
  /// The folder of the cluster, `data`, and of an unfinished one, `data.tmp`.
  let home: String
  let socketFolder: String
  /// The unique id of the data folder, for folders outside of it.
  let id: String

  var urlFile: String { "\(dataFolder)/postgres.url" }
  var logFile: String { "\(dataFolder)/postgres.log" }
  var cluster: String { "\(home)/data" }
  var unfinishedCluster: String { "\(home)/data.tmp" }
  var postmasterFile: String { "\(cluster)/postmaster.pid" }
  /// The folder of a major upgrade; it exists only during one.
  var upgradeFolder: String { "\(home)/upgrade" }

  /// The folder of clusters whose data folder the user `postgres` cannot access.
  static let systemFolder = "/var/lib/take5"

  // sockaddr_un has 108 bytes, including the terminating zero; the server appends this name (unix(7)).
  private static let maxPathLength = 107
  private static let socketName = "/.s.PGSQL.5432"

  /// Uses an existing cluster, otherwise a folder that the server's user can access.
  ///
  /// - Parameters:
  ///   - dataFolder: an existing folder, absolute and without symbolic links.
  ///   - id: the unique id of the data folder, for folders outside of it.
  init(dataFolder: String, id: String, user: ServerUser) {
    self.dataFolder = dataFolder
    let outside = "\(Self.systemFolder)/\(id)"
    let staysOutside = Folder.isFolder("\(outside)/data")
    let isReachable = user.canReach(dataFolder)
    home = isReachable && !staysOutside ? "\(dataFolder)/postgres" : outside
    socketFolder = Self.socketFolder(in: home, otherwise: id)
    self.id = id
  }

  private init(dataFolder: String, home: String, socketFolder: String, id: String) {
    self.dataFolder = dataFolder
    self.home = home
    self.socketFolder = socketFolder
    self.id = id
  }

  private static func socketFolder(in home: String, otherwise name: String) -> String {
    let inside = "\(home)/run"
    // unix_socket_directories is a comma-separated, quoted list: only a plain name is safe in it.
    let isPlain = inside.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-".utf8.contains(byte)
    }
    let isShort = inside.utf8.count + socketName.utf8.count <= maxPathLength
    return isPlain && isShort ? inside : "/tmp/take5-\(name)"
  }

  /// The cluster as the source of a major upgrade: at an address that no other process uses.
  var source: Layout {
    let socketFolder = Self.socketFolder(in: "\(upgradeFolder)/source", otherwise: "\(id)-source")
    return Layout(dataFolder: dataFolder, home: home, socketFolder: socketFolder, id: id)
  }

  /// The new cluster that a major upgrade copies to.
  var target: Layout {
    let socketFolder = Self.socketFolder(in: "\(upgradeFolder)/target", otherwise: "\(id)-target")
    return Layout(dataFolder: dataFolder, home: "\(upgradeFolder)/target", socketFolder: socketFolder, id: id)
  }

  /// The cluster of a version that a major upgrade has replaced.
  func former(_ version: Int) -> String { "\(cluster).\(version)" }

  /// The folders named as clusters of former versions, with the versions in their names.
  func formerClusters() throws(SystemError) -> [(path: String, version: Int)] {
    try Folder.names(in: home).compactMap { name in
      guard name.hasPrefix("data."), let version = Int(name.dropFirst(5)) else { return nil }
      return (former(version), version)
    }
  }

  /// The major version that created a cluster; nil if there is none.
  static func version(of cluster: String) -> Int? { SmallFile.read("\(cluster)/PG_VERSION").flatMap { Int($0) } }

  /// Whether a data folder has a database; true if this user has no permission to look.
  static func holdsCluster(_ dataFolder: String) throws(EmbeddedPostgresError) -> Bool {
    guard let folder = try? Folder.resolved(dataFolder), let id = SmallFile.read("\(folder)/postgres.id") else {
      return false
    }
    let layout = Layout(dataFolder: folder, id: id, user: try ServerUser.current())
    return access(layout.cluster, F_OK) == 0 || errno != ENOENT
  }

  /// The unique id of a data folder, which its first use chooses at random.
  ///
  /// The id is stored in the folder and moves with it; a new folder at the path of a deleted one has another id.
  static func identify(_ dataFolder: String) throws(SystemError) -> String {
    let path = "\(dataFolder)/postgres.id"
    if let id = SmallFile.read(path) { return id }
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    try SmallFile.write(id, to: path)
    return id
  }
}

/// Reads and writes files of one line, and the end of a log.
enum SmallFile {
  /// The first line; nil if there is no file or it is empty.
  static func read(_ path: String) -> String? {
    guard let file = try? Descriptor(reading: path) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    guard let count = try? bytes.withUnsafeMutableBytes({ buffer in try file.read(into: buffer, at: 0) }) else {
      return nil
    }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    return text.isEmpty ? nil : text.split(separator: "\n").first.map(String.init)
  }

  /// Replaces the file atomically; only its owner may read it.
  static func write(_ line: String, to path: String) throws(SystemError) {
    let unfinished = "\(path).tmp"
    // A file that another process left is replaced, and a link is not followed.
    _ = unlink(unfinished)
    let file = try Descriptor(writing: unfinished, replacing: false, mode: 0o600)
    try file.write(Array((line + "\n").utf8))
    try file.synchronize()
    guard rename(unfinished, path) == 0 else { throw SystemError(call: "rename", subject: path) }
  }

  /// The size of a log; 0 if there is none.
  static func size(of path: String) -> Int64 { (try? Descriptor(reading: path).size()) ?? 0 }

  /// The text of a log from a position on, at most the last 64 KB.
  static func text(of path: String, from position: Int64) -> String {
    guard let file = try? Descriptor(reading: path), let size = try? file.size() else { return "" }
    // A log that was renamed meanwhile starts at 0.
    let start = max(position > size ? 0 : position, size - maxText)
    var buffer = [UInt8](repeating: 0, count: Int(size - start))
    let count = (try? buffer.withUnsafeMutableBytes { try file.read(into: $0, at: start) }) ?? 0
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  private static let maxText: Int64 = 1 << 16
}
