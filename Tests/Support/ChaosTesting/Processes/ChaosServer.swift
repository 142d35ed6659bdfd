import EmbeddedPostgres
import Glibc
package import Platform
import Postgres
import PostgresTesting
import Queue

/// A private PostgreSQL server that can be crashed and restarted.
package actor ChaosServer {
  private let configuration: EmbeddedPostgres.Configuration
  private var server: EmbeddedPostgres?
  /// The path of the server's socket, for proxies.
  nonisolated let socket: String
  /// The URL of the server; `url.with(database:)` is the URL of a database.
  nonisolated let url: DatabaseURL
  private var databases = 0

  /// Starts a durable server.
  package init(folder: String) async throws {
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder)
    configuration.isDurable = true
    self.configuration = configuration
    let server = try await onThread("chaos-server") { [configuration] in try EmbeddedPostgres.start(configuration) }
    let url = server.url
    self.server = server
    self.url = url
    socket = try await onThread("chaos-server") {
      let session = try Session.connect(url, timeout: .seconds(5))
      let row = try session.execute("SELECT current_setting('unix_socket_directories')").single()
      return try row.get(0, as: String.self).replacing("\"", with: "") + "/.s.PGSQL.5432"
    }
  }

  /// Creates a database with the schema of a run, from a template that the first call creates.
  func makeDatabase() async throws -> DatabaseURL {
    databases += 1
    let name = "chaos_\(databases)"
    let isFirst = databases == 1
    let url = url
    try await onThread("chaos-server") {
      if isFirst {
        try Self.execute("CREATE DATABASE chaos_template", url)
        try ChaosSchema.migrate(try Session.connect(url.with(database: "chaos_template"), timeout: .seconds(5)))
      }
      try Self.execute("CREATE DATABASE \(name) TEMPLATE chaos_template", url)
    }
    return url.with(database: name)
  }

  /// Drops a database and disconnects its clients.
  func drop(_ database: DatabaseURL) async throws {
    guard let name = database.database else { return }
    let url = url
    try await onThread("chaos-server") { try Self.execute("DROP DATABASE \(name) WITH (FORCE)", url) }
  }

  /// Performs an immediate shutdown: the server disconnects all sessions and writes no checkpoint.
  func crash() async throws {
    guard let running = server.take() else { return }
    if let process = running.process { kill(process, SIGQUIT) }
    try await onThread("chaos-server") { running.stop() }
  }

  /// Starts the server after a crash.
  func restart() async throws {
    let configuration = configuration
    server = try await onThread("chaos-server") { try EmbeddedPostgres.start(configuration) }
  }

  /// Stops the server.
  package func stop() async throws {
    guard let running = server.take() else { return }
    try await onThread("chaos-server") { running.stop() }
  }

  private static func execute(_ sql: String, _ url: DatabaseURL) throws {
    try Session.connect(url, timeout: .seconds(10)).executeScript(sql, name: "chaos database")
  }
}

/// The schema and the statements of a run, in addition to those of the queue.
package enum ChaosSchema {
  static let statements = Statements(topic: "chaos", EmbeddedText(PackageResources.Chaos_sql))

  /// The tables of the application and the triggers that record transitions; applied after the queue's migrations.
  static let migration = Migration(version: 9000, name: "chaos", EmbeddedText(PackageResources.v9000_chaos_sql))

  /// Creates the schema of the queue and of a run.
  static func migrate(_ session: Session) throws {
    try Migrator(QueueMigrations.all + [migration]).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  /// The failpoints of the programs of a run.
  package static var failpoints: [Failpoint] {
    Failpoint.connections + JobQueue.failpoints + statements.failpoints
  }
}
