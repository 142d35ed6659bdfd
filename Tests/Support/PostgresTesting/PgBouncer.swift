import Glibc
import Platform
package import Postgres

/// A PgBouncer in front of a test's database: a child process with its files in a temporary folder.
final class PgBouncer: Sendable {
  private struct State {
    var process: Int32?
    var failure: SystemError?
  }

  /// The address of the pooler.
  let url: DatabaseURL
  private let folder: TemporaryFolder
  private let state = Locked(State())
  private let started: Event
  private let ended: Event

  private var program: String { "\(folder.path)/pgbouncer" }
  private var configurationFile: String { "\(folder.path)/pgbouncer.ini" }
  private var logFile: String { "\(folder.path)/log" }

  /// Settings for transaction mode with round robin: successive transactions of a client use different connections.
  static func sharing(_ connections: Int) -> [String] {
    [
      "pool_mode = transaction", "default_pool_size = \(connections)", "server_round_robin = 1",
      "max_client_conn = 200",
    ] + statements
  }

  // From 1.21 on PgBouncer can prepare the statements of a client on each connection, which other poolers do not.
  private static let statements: [String] = {
    let program = (try? Descriptor(reading: find()).contents()) ?? []
    return program.firstRange(of: Array("max_prepared_statements".utf8)) == nil ? [] : ["max_prepared_statements = 0"]
  }()

  /// Starts PgBouncer, and blocks until it accepts connections.
  ///
  /// - Parameter settings: the lines of the configuration file.
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
      throw PgBouncerFailure(message: "pgbouncer does not respond: \(error)\n\(log)")
    }
  }

  /// Kills PgBouncer, which closes all its connections, and waits for its end.
  func stop() {
    // The child is not reaped while its id is in the state: the signal cannot reach another process.
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
    // The user who runs the program may have no access to its folder. A child process copies it: if this process wrote
    // the copy, a child that is forked meanwhile could hold it open for writing, and executing it would fail (ETXTBSY).
    let copy = try ChildProcess(.init(path: "/bin/cp", arguments: [try Self.find(), program]))
    guard copy.wait() == .exited(0) else { throw PgBouncerFailure(message: "pgbouncer cannot be copied") }
  }

  private func start() throws {
    var configuration = ChildProcess.Configuration(path: program, arguments: [configurationFile])
    configuration.newSession = true
    // PgBouncer refuses to run as root, and only the server's user can access the server's socket.
    if geteuid() == 0 {
      guard let entry = getpwnam("postgres") else { throw PgBouncerFailure(message: "user postgres not found") }
      let (user, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
      guard chown(folder.path, user, group) == 0 else { throw SystemError(call: "chown", subject: folder.path) }
      configuration.user = (user, group)
    }
    // The kernel signals the child when the thread that started it ends.
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

  /// Debian's program, installed or downloaded by `make pgbouncer`.
  private static func find() throws(PgBouncerFailure) -> String {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let paths = ["/usr/sbin/pgbouncer", "\(root)/.build/pgbouncer/usr/sbin/pgbouncer"]
    guard let found = paths.first(where: { access($0, R_OK) == 0 }) else {
      throw PgBouncerFailure(message: "pgbouncer not found: run 'make pgbouncer'")
    }
    return found
  }
}

private struct PgBouncerFailure: Error, CustomStringConvertible {
  let message: String

  var description: String { message }
}

/// Runs a test with a PgBouncer in transaction mode in front of its database.
///
/// - Parameters:
///   - database: the address of the database.
///   - connections: the number of server connections.
///   - settings: lines of the configuration file instead of transaction mode.
///   - body: gets the address of the pooler.
package func withPooler<Result>(
  before database: DatabaseURL, connections: Int = 2, settings: [String]? = nil,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (DatabaseURL) async throws -> Result
) async throws -> Result {
  let pooler = try await onThread("pgbouncer-start") {
    try PgBouncer(before: database, settings: settings ?? PgBouncer.sharing(connections))
  }
  do {
    let result = try await body(pooler.url)
    try await onThread("pgbouncer-stop") { pooler.stop() }
    return result
  } catch {
    try? await onThread("pgbouncer-stop") { pooler.stop() }
    throw error
  }
}
