import EmbeddedPostgres
import Glibc
import Platform
import Postgres

/// The one private PostgreSQL of a test run: started by the first test that needs it, ended with the process.
actor TestCluster {
  static let shared = TestCluster()

  private var server: EmbeddedPostgres?
  private var templates: [String: Task<String, any Error>] = [:]
  private var databases = 0

  /// A database of its own for one test, copied from a template that is built once.
  func makeDatabase(_ template: TestTemplate?) async throws -> DatabaseURL {
    let server = try start()
    var source = "template0"
    if let template { source = try await build(template, on: server) }
    databases += 1
    let name = "test_\(databases)"
    try execute("CREATE DATABASE \(name) TEMPLATE \(source)", on: server)
    return server.url.with(database: name)
  }

  /// Removes a test's database, whoever is still connected.
  func drop(_ url: DatabaseURL) throws {
    guard let server, let name = url.database else { return }
    try execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)", on: server)
  }

  private func build(_ template: TestTemplate, on server: EmbeddedPostgres) async throws -> String {
    if let building = templates[template.name] { return try await building.value }
    let name = "template_\(template.name)"
    let url = server.url.with(database: name)
    let building = Task {
      try execute("CREATE DATABASE \(name) TEMPLATE template0", on: server)
      try template.build(try Session.connect(url, timeout: .seconds(5)))
      return name
    }
    templates[template.name] = building
    return try await building.value
  }

  private func execute(_ sql: String, on server: EmbeddedPostgres) throws {
    try Session.connect(server.url, timeout: .seconds(5)).executeScript(sql, name: "test database")
  }

  private func start() throws -> EmbeddedPostgres {
    if let server { return server }
    // Hundreds of databases are made and dropped, none of which has to outlive anything.
    let folder = try TemporaryFolder(prefix: "take5-tests", inMemoryWith: 4 << 30)
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder.path)
    configuration.isDurable = false
    let started = try EmbeddedPostgres.start(configuration)
    server = started
    leftover.withLock { $0 = (started, folder) }
    atexit(stopAtExit)
    return started
  }
}

private let leftover = Locked<(EmbeddedPostgres, TemporaryFolder)?>(nil)

// At file scope: C calls it. A run that is killed leaves its folder, in memory or under /tmp, but no server.
private func stopAtExit() {
  leftover.withLock { held in
    held?.0.stop()
    held = nil
  }
}
