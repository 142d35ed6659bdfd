import Glibc
import Platform
import Postgres

/// A pgbouncer in transaction mode before a test's database: a child with its files in a folder of its own.
final class PgBouncer: Sendable {
  private struct State {
    var process: Int32?
    var failure: SystemError?
  }

  /// The way through it.
  let url: DatabaseURL
  private let folder: TemporaryFolder
  private let state = Locked(State())
  private let started: Event
  private let ended: Event

  private var program: String { "\(folder.path)/pgbouncer" }
  private var configurationFile: String { "\(folder.path)/pgbouncer.ini" }
  private var logFile: String { "\(folder.path)/log" }

  /// How it pools by turns: of two transactions of one client each has another connection, if there are two.
  static func sharing(_ connections: Int) -> [String] {
    [
      "pool_mode = transaction", "default_pool_size = \(connections)", "server_round_robin = 1",
      "max_client_conn = 200",
    ]
  }

  /// Starts it and returns when it answers; blocks until then.
  ///
  /// - Parameter settings: how it pools, line by line.
  init(before database: DatabaseURL, settings: [String]) throws {
    folder = try TemporaryFolder(prefix: "take5-pgbouncer")
    var url = DatabaseURL(socketFolder: folder.path, user: "anybody", database: database.database ?? "")
    url.pooling = .transaction
    self.url = url
    started = try Event()
    ended = try Event()
    try configure(database, settings)
    try start()
    do {
      _ = try Session.connect(url, timeout: .seconds(10))
    } catch {
      stop()
      throw PgBouncerFailure(message: "pgbouncer does not answer: \(error)\n\(log)")
    }
  }

  /// Ends it, and with it every connection through it; waits for its end.
  func stop() {
    // While the number stands there the child is not reaped: the signal can reach nobody else.
    state.withLock { state in
      if let process = state.process { kill(process, SIGKILL) }
    }
    ended.wait()
  }

  private var log: String {
    let bytes = try? Descriptor(reading: logFile).contents()
    return String(decoding: bytes ?? [], as: UTF8.self)
  }

  private func configure(_ database: DatabaseURL, _ settings: [String]) throws {
    let configuration = """
      [databases]
      * = \(database.connectionString)

      [pgbouncer]
      \(settings.joined(separator: "\n"))
      auth_type = any
      unix_socket_dir = \(folder.path)
      listen_port = 5432

      """
    try Descriptor(writing: configurationFile, replacing: true).write(Array(configuration.utf8))
    // The program may lie where the user who is to run it cannot go. Another process copies it: a child that this one makes
    // at the same moment would hold the file open for writing, and it could not be run.
    let copy = try ChildProcess(.init(path: "/bin/cp", arguments: [try Self.find(), program]))
    guard copy.wait() == .exited(0) else { throw PgBouncerFailure(message: "pgbouncer cannot be copied") }
  }

  private func start() throws {
    var configuration = ChildProcess.Configuration(path: program, arguments: [configurationFile])
    configuration.newSession = true
    // It refuses to run as root, and the server's socket is its user's alone.
    if geteuid() == 0 {
      guard let entry = getpwnam("postgres") else { throw PgBouncerFailure(message: "there is no user postgres") }
      let (user, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
      guard chown(folder.path, user, group) == 0 else { throw SystemError(call: "chown", subject: folder.path) }
      configuration.user = (user, group)
    }
    // It is told to end with the thread that starts it: that one waits for it.
    try NamedThread(name: "pgbouncer") { [configuration] in self.run(configuration) }.detach()
    started.wait()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func run(_ configuration: ChildProcess.Configuration) {
    defer { ended.signal() }
    do {
      let log = try Descriptor(writing: logFile, replacing: true)
      var configuration = configuration
      configuration.descriptors = [nil, log.number, log.number]
      let child = try ChildProcess(configuration)
      state.withLock { $0.process = child.id }
      started.signal()
      child.waitForEnd()
      state.withLock { $0.process = nil }
      _ = child.wait()
    } catch {
      state.withLock { $0.failure = error }
      started.signal()
    }
  }

  /// Debian's, where it is installed or where `make pgbouncer` lays it.
  private static func find() throws(PgBouncerFailure) -> String {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let places = ["/usr/sbin/pgbouncer", "\(root)/.build/pgbouncer/usr/sbin/pgbouncer"]
    guard let found = places.first(where: { access($0, R_OK) == 0 }) else {
      throw PgBouncerFailure(message: "there is no pgbouncer: 'make pgbouncer' brings it")
    }
    return found
  }
}

/// Why a test cannot have its pooler.
private struct PgBouncerFailure: Error, CustomStringConvertible {
  let message: String

  var description: String { message }
}
