import EmbeddedPostgres
import Glibc
import Platform
package import Postgres
import WaitTesting

/// Runs a test with a new database on the server of the test run, and drops the database afterwards. The test fails if it waits for a disk
/// or a network in a transaction.
package func withDatabase<Result>(
  _ template: TestTemplate? = nil, isolation: isolated (any Actor)? = #isolation,
  _ body: (DatabaseURL) async throws -> Result
) async throws -> Result {
  TransactionGuard.begin()
  let url = try await TestCluster.shared.makeDatabase(template)
  do {
    let result = try await body(url)
    try await TestCluster.shared.drop(url)
    return result
  } catch {
    try? await TestCluster.shared.drop(url)
    throw error
  }
}

/// The initial content of a test's database; built once per test run, and copied for each test.
package struct TestTemplate: Sendable {
  let name: String
  let build: @Sendable (Session) throws -> Void

  /// - Parameters:
  ///   - name: unique in the test run: lower-case letters and `_`.
  ///   - build: fills an empty database.
  package init(name: String, build: @escaping @Sendable (Session) throws -> Void) {
    self.name = name
    self.build = build
  }
}

/// The PostgreSQL server of a test run: started by the first test that needs it, stopped with the process.
actor TestCluster {
  static let shared = TestCluster()

  private var server: (EmbeddedPostgres, Pool)?
  private var templates: [String: Task<String, any Error>] = [:]
  private var databases = 0

  /// Creates a database for one test, as a copy of a template.
  func makeDatabase(_ template: TestTemplate?) async throws -> DatabaseURL {
    let (server, pool) = try start()
    var source = "template0"
    if let template { source = try await build(template, on: server, pool) }
    databases += 1
    let name = "test_\(databases)"
    try await Self.copy(source, to: name, pool)
    // A transaction that a test holds waits for what the test does meanwhile, on a busy machine too.
    return server.url.with(database: name).with(idleTransactionLimit: .seconds(600))
  }

  /// Drops a test's database, and terminates its connections.
  func drop(_ url: DatabaseURL) async throws {
    guard let (_, pool) = server, let name = url.database else { return }
    try await pool.run { try $0.executeScript("DROP DATABASE IF EXISTS \(name) WITH (FORCE)", name: "test") }
  }

  private func build(_ template: TestTemplate, on server: EmbeddedPostgres, _ pool: Pool) async throws -> String {
    if let building = templates[template.name] { return try await building.value }
    let name = "template_\(template.name)"
    let url = server.url.with(database: name)
    let building = Task {
      try await Self.copy("template0", to: name, pool)
      try await onThread("test-template") { try template.build(try Session.connect(url, timeout: .seconds(5))) }
      return name
    }
    templates[template.name] = building
    return try await building.value
  }

  /// Copies a database as files: each page in the log as well costs three times as much.
  private static func copy(_ template: String, to name: String, _ pool: Pool) async throws {
    try await pool.run {
      try $0.executeScript("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY FILE_COPY", name: "test")
    }
  }

  private func start() throws -> (EmbeddedPostgres, Pool) {
    if let server { return server }
    // Hundreds of databases are created and dropped: in memory this is faster, and none needs durability.
    let folder = try TemporaryFolder(prefix: "take5-tests")
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder.path)
    configuration.isDurable = false
    let started = try EmbeddedPostgres.start(configuration)
    let pool = Pool(started.url, size: 2, timeout: .seconds(600))
    server = (started, pool)
    running.withLock { $0 = (started, folder) }
    atexit(stopAtExit)
    return (started, pool)
  }
}

private let running = Locked<(EmbeddedPostgres, TemporaryFolder)?>(nil)

// At file scope, for atexit(3). A test run that is killed leaves its folder, but no server.
private func stopAtExit() {
  running.withLock { held in
    held?.0.stop()
    held = nil
  }
}

/// Makes a test's database read-only, as before a failover, or writable. Making it read-only terminates its
/// connections; connections that were opened while it was read-only stay so.
package func setReadOnly(_ isReadOnly: Bool, _ database: DatabaseURL) throws {
  let session = try Session.connect(database, timeout: .seconds(5))
  // This session must be able to change the setting of a read-only database.
  try session.executeScript("SET default_transaction_read_only = off", name: "SET")
  let name = database.database ?? ""
  guard isReadOnly else {
    return try session.executeScript(
      "ALTER DATABASE \(name) RESET default_transaction_read_only", name: "ALTER DATABASE")
  }
  try session.executeScript("ALTER DATABASE \(name) SET default_transaction_read_only = on", name: "ALTER DATABASE")
  try session.execute(
    """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
    """)
}

/// Returns the number of sessions of a test's database that have had a transaction open for a second while they waited for their client.
///
/// Between two statements a transaction is idle, too, for as long as its client has no processor: those are looked at again.
package func idleTransactions(_ database: DatabaseURL) throws -> Int {
  let session = try Session.connect(database, timeout: .seconds(5))
  let deadline = Deadline("a moment without an idle transaction")
  while true {
    try deadline.check()
    let row = try session.execute(
      """
      SELECT count(*), count(*) FILTER (WHERE state_change < clock_timestamp() - interval '1 second') FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'
      """
    ).single()
    if try row.get(0, as: Int.self) == 0 || row.get(1, as: Int.self) > 0 { return try row.get(1) }
    _ = poll(nil, 0, 20)
  }
}

/// A value that the tasks of a test share; a class, since escaping closures cannot capture a noncopyable lock.
package final class Shared<Value>: Sendable {
  private let locked: Locked<Value>

  package init(_ value: sending Value) { locked = Locked(value) }

  package func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    locked.withLock(body)
  }
}
