import EmbeddedPostgres
import Glibc
import Platform
package import Postgres

/// A private PostgreSQL that is crashed and started again.
package actor ChaosServer {
  private let configuration: EmbeddedPostgres.Configuration
  private var server: EmbeddedPostgres?
  /// The path of its socket, for proxies.
  package nonisolated let socket: String
  /// Its databases are reached through `url.with(database:)`.
  package nonisolated let url: DatabaseURL
  private var databases = 0

  /// Starts it, with everything that keeps what is committed.
  package init(folder: String, isDurable: Bool = true) async throws {
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder)
    configuration.isDurable = isDurable
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

  /// Makes a database with the schema of a run; the first one is the template of all others.
  package func makeDatabase() async throws -> DatabaseURL {
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

  /// Removes a database, whoever is connected.
  package func drop(_ database: DatabaseURL) async throws {
    guard let name = database.database else { return }
    let url = url
    try await onThread("chaos-server") { try Self.execute("DROP DATABASE \(name) WITH (FORCE)", url) }
  }

  /// An immediate shutdown: no checkpoint, every session cut, as after a power failure of the server alone.
  package func crash() async throws {
    guard let running = server.take() else { return }
    if let process = running.process { kill(process, SIGQUIT) }
    try await onThread("chaos-server") { running.stop() }
  }

  /// Starts it after a crash.
  package func restart() async throws {
    let configuration = configuration
    server = try await onThread("chaos-server") { try EmbeddedPostgres.start(configuration) }
  }

  /// Ends it.
  package func stop() async throws {
    guard let running = server.take() else { return }
    try await onThread("chaos-server") { running.stop() }
  }

  private static func execute(_ sql: String, _ url: DatabaseURL) throws {
    try Session.connect(url, timeout: .seconds(10)).executeScript(sql, name: "chaos database")
  }
}
