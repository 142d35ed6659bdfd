import Glibc
import Platform

/// Where everything of one embedded server lies.
struct Layout: Equatable {
  /// The data folder, absolute and without symbolic links.
  let dataFolder: String
  /// Holds the cluster (`data`), and while it is made `data.tmp`.
  let home: String
  let socketFolder: String

  var urlFile: String { "\(dataFolder)/postgres.url" }
  var logFile: String { "\(dataFolder)/postgres.log" }
  var cluster: String { "\(home)/data" }
  var unfinishedCluster: String { "\(home)/data.tmp" }
  var postmasterFile: String { "\(cluster)/postmaster.pid" }

  /// Where clusters lie whose data folder the user `postgres` cannot reach.
  static let systemFolder = "/var/lib/take5"

  // sockaddr_un has 108 bytes with the closing zero; the server adds this name (unix(7)).
  private static let maxPathLength = 107
  private static let socketName = "/.s.PGSQL.5432"

  /// Decides by what is there already, then by what the server's user can reach.
  ///
  /// - Parameters:
  ///   - dataFolder: an existing folder, resolved.
  ///   - id: what tells this data folder from all others, for the folders outside it.
  init(dataFolder: String, id: String, user: ServerUser) {
    self.dataFolder = dataFolder
    let outside = "\(Self.systemFolder)/\(id)"
    let staysOutside = Folder.isFolder("\(outside)/data")
    let isReachable = user.canReach(dataFolder)
    home = isReachable && !staysOutside ? "\(dataFolder)/postgres" : outside
    let inside = "\(home)/run"
    // The server reads its folder's name from a comma-separated, quoted list: a plain name is in no danger there.
    let isPlain = inside.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-".utf8.contains(byte)
    }
    let isShort = inside.utf8.count + Self.socketName.utf8.count <= Self.maxPathLength
    socketFolder = isPlain && isShort ? inside : "/tmp/take5-\(id)"
  }

  /// Whether a database was made for a data folder; one that this user may not look at is there.
  static func holdsCluster(_ dataFolder: String) throws(EmbeddedPostgresError) -> Bool {
    guard let folder = try? Folder.resolved(dataFolder), let id = SmallFile.read("\(folder)/postgres.id") else {
      return false
    }
    let layout = Layout(dataFolder: folder, id: id, user: try ServerUser.current())
    return access(layout.cluster, F_OK) == 0 || errno != ENOENT
  }

  /// What tells a data folder from all others, chosen at random when it is first used.
  ///
  /// It lies in the folder and moves with it; a folder made anew finds no server of a folder that was deleted.
  static func identify(_ dataFolder: String) throws(SystemError) -> String {
    let path = "\(dataFolder)/postgres.id"
    if let id = SmallFile.read(path) { return id }
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    try SmallFile.write(id, to: path)
    return id
  }
}
