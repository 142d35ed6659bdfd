import Glibc
import Platform

/// The files of a server: made once, under a name that says unfinished, then renamed.
struct Cluster {
  let layout: Layout
  let user: ServerUser
  let isDurable: Bool

  /// The role that owns everything; who can open the socket may use it.
  static let role = "take5"
  static let database = "take5"

  /// The major version that made it; nil if it is yet to be made.
  var version: Int? { SmallFile.read("\(layout.cluster)/PG_VERSION").flatMap { Int($0) } }

  /// The user it belongs to, if it is there already and was made by another than the one that would run it now.
  static func owner(of layout: Layout, otherwise user: ServerUser) throws(EmbeddedPostgresError) -> ServerUser {
    var status = stat()
    guard stat(layout.cluster, &status) == 0, status.st_uid != user.user else { return user }
    if geteuid() == 0, status.st_uid != 0 {
      return ServerUser(user: status.st_uid, group: status.st_gid, isSwitched: true)
    }
    throw EmbeddedPostgresError(
      "the database in \(layout.cluster) belongs to user \(status.st_uid)",
      remedy: "Run as that user or as root, or choose another data folder with --data")
  }

  /// Makes the cluster if it is missing.
  func make(with binaries: Binaries) throws(EmbeddedPostgresError) {
    guard version == nil else { return }
    do {
      try Folder.remove(layout.unfinishedCluster)
      try user.makePrivateFolder(layout.unfinishedCluster)
      try initialise(with: binaries)
      guard rename(layout.unfinishedCluster, layout.cluster) == 0 else {
        throw SystemError(call: "rename", subject: layout.cluster)
      }
      try Folder.synchronize(layout.home)
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
  }

  private func initialise(with binaries: Binaries) throws {
    var arguments = [
      "--pgdata=\(layout.unfinishedCluster)", "--username=\(Self.role)", "--auth-local=trust", "--auth-host=reject",
      "--encoding=UTF8", "--locale=C",
    ]
    if !isDurable { arguments.append("--no-sync") }
    let log = try openLog()
    let logged = SmallFile.size(of: layout.logFile)
    let child = try ChildProcess(configuration(binaries.initdb, arguments, log: log.number))
    guard child.wait() == .exited(0) else {
      let failure = StartFailure(log: SmallFile.text(of: layout.logFile, from: logged))
      throw EmbeddedPostgresError(
        "PostgreSQL's database cannot be made: \(failure?.message ?? "initdb failed and did not say why")",
        remedy: failure?.remedy.map { "\($0). All that was said is in \(layout.logFile)" } ?? "See \(layout.logFile)")
    }
  }

  /// Starts the server; it ends with the calling thread.
  func start(with binaries: Binaries) throws(SystemError) -> ChildProcess {
    var arguments = [
      "-D", layout.cluster, "-k", layout.socketFolder, "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700",
      "-c", "timezone=UTC", "-c", "log_timezone=UTC",
    ]
    if isDurable {
      arguments += ["-c", "shared_buffers=\(Self.sharedMegabytes)MB"]
    } else {
      // A killed server still keeps what was committed; only a machine that stops loses it.
      arguments += ["-c", "fsync=off", "-c", "full_page_writes=off"]
    }
    let log = try openLog()
    var configuration = configuration(binaries.postgres, arguments, log: log.number)
    // A fast shutdown, should this process die: nobody is left who could use the server.
    configuration.parentDeathSignal = SIGINT
    configuration.newSession = true
    return try ChildProcess(configuration)
  }

  /// A sixteenth of the machine's memory, from PostgreSQL's own default up to a gibibyte: what waits in a long queue is
  /// found in memory. It is taken only as it is used.
  private static var sharedMegabytes: Int {
    let bytes = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    return min(max(bytes >> 24, 128), 1024)
  }

  private func configuration(_ path: String, _ arguments: [String], log: Int32) -> ChildProcess.Configuration {
    var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
    // Nothing of our own environment: PGOPTIONS and its like must not reach this server.
    configuration.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": layout.home]
    configuration.directory = "/"
    configuration.descriptors = [nil, log, log]
    if user.isSwitched { configuration.user = (user.user, user.group) }
    return configuration
  }

  private static let maxLogBytes: Int64 = 8 << 20

  // Appends; a log grown large is set aside when the server starts.
  private func openLog() throws(SystemError) -> Descriptor {
    var status = stat()
    if stat(layout.logFile, &status) == 0, Int64(status.st_size) > Self.maxLogBytes {
      _ = rename(layout.logFile, "\(layout.logFile).1")
    }
    let number = open(layout.logFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw SystemError(call: "open", subject: layout.logFile) }
    return Descriptor(owning: number)
  }
}
