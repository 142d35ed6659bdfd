import Glibc
import Platform

/// The database cluster of the server: `initdb` creates it in a temporary folder, which is then renamed.
struct Cluster {
  let layout: Layout
  let user: ServerUser
  let isDurable: Bool
  /// Whether its server is to serve for long.
  let isService: Bool

  /// The superuser; every process that can open the socket may use it.
  static let role = "take5"
  static let database = "take5"

  /// The major version that created the cluster; nil if there is no cluster.
  var version: Int? { Layout.version(of: layout.cluster) }

  /// The cluster of a data folder, whether or not it exists.
  ///
  /// - Parameter dataFolder: an existing folder, absolute and without symbolic links.
  init(
    in dataFolder: String, _ configuration: EmbeddedPostgres.Configuration
  ) throws(EmbeddedPostgresError) {
    let user = try ServerUser.current()
    do throws(SystemError) {
      layout = Layout(dataFolder: dataFolder, id: try Layout.identify(dataFolder), user: user)
    } catch {
      throw EmbeddedPostgresError(error)
    }
    self.user = try Self.owner(of: layout, otherwise: user)
    (isDurable, isService) = (configuration.isDurable, configuration.isService)
  }

  /// The same for another folder, such as an unfinished one.
  init(_ layout: Layout, like cluster: Cluster) {
    self.layout = layout
    (user, isDurable, isService) = (cluster.user, cluster.isDurable, cluster.isService)
  }

  /// The user who runs the server: the owner of an existing cluster, otherwise `user`.
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

  /// Creates the cluster if it is missing.
  func create(with binaries: Binaries) throws(EmbeddedPostgresError) {
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
      "--encoding=UTF8", "--locale=C", "--data-checksums",
    ]
    if !isDurable { arguments.append("--no-sync") }
    if let log = try run(binaries.initdb, arguments) {
      let failure = StartFailure(log: log)
      throw EmbeddedPostgresError(
        "the PostgreSQL database cannot be created: \(failure?.message ?? "initdb failed without an error message")",
        remedy: failure?.remedy.map { "\($0). The full log is \(layout.logFile)" } ?? "See \(layout.logFile)")
    }
  }

  /// Gives all pages of the database, whose server has been shut down, a checksum.
  func enableChecksums(with binaries: Binaries) throws {
    var arguments = ["--enable", "--pgdata=\(layout.cluster)"]
    if !isDurable { arguments.append("--no-sync") }
    guard let log = try run(binaries.checksums, arguments) else { return }
    let error = log.split(separator: "\n").last { $0.hasPrefix("pg_checksums: error: ") }
    throw EmbeddedPostgresError(
      "the data checksums cannot be enabled: \(error.map(String.init) ?? "pg_checksums failed without an error message")",
      remedy: "See \(layout.logFile); the database is as it was")
  }

  /// Runs a program until it ends; returns what it has logged if it fails, and nil otherwise.
  private func run(_ program: String, _ arguments: [String]) throws -> String? {
    let log = try ServerLog(path: layout.logFile).open()
    let logged = SmallFile.size(of: layout.logFile)
    let child = try ChildProcess(configuration(program, arguments, log: log.number))
    return child.wait() == .exited(0) ? nil : SmallFile.text(of: layout.logFile, from: logged)
  }

  /// Starts the server; it is shut down when the calling thread ends.
  func start(with binaries: Binaries) throws(SystemError) -> ChildProcess {
    var arguments = [
      "-D", layout.cluster, "-k", layout.socketFolder, "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700",
      "-c", "timezone=UTC", "-c", "log_timezone=UTC",
      // A service manager may forbid memory that becomes executable (systemd.exec(5), MemoryDenyWriteExecute).
      "-c", "jit=off",
      // Without DETAIL and CONTEXT, which quote the values of rows, such as the e-mail address that violates a unique constraint. What the
      // client gets has them.
      "-c", "log_error_verbosity=terse",
    ]
    if isDurable {
      arguments += ["-c", "shared_buffers=\(sharedMegabytes)MB"]
    } else {
      // Commits survive a crash of the server, but not of the machine. Hundreds of tests share the server.
      arguments += ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=400"]
    }
    let log = try ServerLog(path: layout.logFile).open()
    var configuration = configuration(binaries.postgres, arguments, log: log.number)
    // A fast shutdown when this process dies: another process then becomes the owner and starts its own server.
    configuration.parentDeathSignal = SIGINT
    configuration.newSession = true
    return try ChildProcess(configuration)
  }

  /// The `shared_buffers`: of a service a sixteenth of the machine's memory, from 128 MB, PostgreSQL's default, to 1 GB, so that a
  /// long queue stays in memory. The kernel allocates pages as they are used, but the server writes its list of them at the start: a
  /// command, which ends soon, has the default.
  private var sharedMegabytes: Int {
    guard isService else { return 128 }
    let bytes = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    return min(max(bytes >> 24, 128), 1024)
  }

  private func configuration(_ path: String, _ arguments: [String], log: Int32) -> ChildProcess.Configuration {
    var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
    // Without this process's environment: PGOPTIONS and other variables must not affect the server.
    configuration.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": layout.home]
    configuration.directory = "/"
    configuration.descriptors = [nil, log, log]
    if user.isSwitched { configuration.user = (user.user, user.group) }
    return configuration
  }
}

/// The user who runs the server; PostgreSQL refuses to run as root.
struct ServerUser: Equatable {
  let user: UInt32
  let group: UInt32
  /// Whether the user differs from the user of this process.
  let isSwitched: Bool

  /// The user of this process; for root, the user `postgres`.
  static func current() throws(EmbeddedPostgresError) -> ServerUser {
    guard geteuid() == 0 else { return ServerUser(user: geteuid(), group: getegid(), isSwitched: false) }
    guard let entry = getpwnam("postgres") else {
      throw EmbeddedPostgresError(
        "user postgres not found, and PostgreSQL does not run as root",
        remedy: "Install the distribution's PostgreSQL, which creates that user, or do not run as root")
    }
    return ServerUser(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid, isSwitched: true)
  }

  /// Whether the modes of all folders down to `path` give this user search permission.
  func canReach(_ path: String) -> Bool {
    var folder: String? = path
    while let current = folder {
      var status = stat()
      guard stat(current, &status) == 0 else { return false }
      let mode = status.st_mode
      let bit = status.st_uid == user ? S_IXUSR : status.st_gid == group ? S_IXGRP : S_IXOTH
      guard mode & bit != 0 else { return false }
      folder = Folder.parent(of: current)
    }
    return true
  }

  /// Creates a folder that only this user can access.
  func makePrivateFolder(_ path: String) throws(SystemError) {
    try Folder.make(path, mode: 0o700)
    var status = stat()
    guard lstat(path, &status) == 0 else { throw SystemError(call: "lstat", subject: path) }
    // A folder or a link of another user must not be used for the socket. A folder of this process was just created.
    let isOurs = status.st_uid == user || (isSwitched && status.st_uid == geteuid())
    guard isOurs, status.st_mode & S_IFMT == S_IFDIR else {
      throw SystemError(call: "mkdir", code: EPERM, subject: path)
    }
    if isSwitched {
      guard lchown(path, user, group) == 0 else { throw SystemError(call: "lchown", subject: path) }
    }
    guard chmod(path, 0o700) == 0 else { throw SystemError(call: "chmod", subject: path) }
  }
}
