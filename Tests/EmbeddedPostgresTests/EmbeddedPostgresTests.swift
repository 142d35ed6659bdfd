import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Embedded PostgreSQL", .tags(.database, .process))
struct EmbeddedPostgresTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(_ name: String = "data") -> EmbeddedPostgres.Configuration {
    var configuration = EmbeddedPostgres.Configuration(dataFolder: "\(folder.path)/\(name)")
    configuration.isDurable = false
    return configuration
  }

  private func connect(_ server: EmbeddedPostgres) throws -> Session {
    try Session.connect(server.url, timeout: .seconds(20))
  }

  /// Waits until the server closes the connection.
  private func waitForEnd(of session: Session) throws {
    // The statement waits until the connection is closed.
    let error = #expect(throws: PostgresError.self) { try session.execute("SELECT pg_sleep(60)") }
    #expect(error?.isConnectionLost == true, "\(String(describing: error))")
  }

  @Test(
    "the server of a command starts with PostgreSQL's default memory, and a service's with more on a larger machine"
  )
  func memory() throws {
    var configuration = configuration()
    configuration.isDurable = true
    for isService in [false, true] {
      configuration.isService = isService
      let server = try EmbeddedPostgres.start(configuration)
      let kilobytes: Int = try connect(server).execute(
        "SELECT setting::int * 8 FROM pg_settings WHERE name = 'shared_buffers'"
      ).single().get(0)
      server.stop()
      let sixteenth = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) / (16 << 20)
      #expect(kilobytes >> 10 == (isService ? min(max(sixteenth, 128), 1024) : 128))
    }
  }

  @Test("the log of the server names a constraint that is violated, and has no value of the row")
  func valuesInLog() throws {
    let value = "zuleika@example.org"
    let server = try EmbeddedPostgres.start(configuration())
    let session = try connect(server)
    try session.executeScript(
      """
      CREATE TABLE named (name text PRIMARY KEY);
      CREATE TABLE child (name text REFERENCES named);
      CREATE TABLE bounded (name text, age int NOT NULL CHECK (age > 0), EXCLUDE USING btree (name WITH =));
      """, name: "tables")
    try session.execute("INSERT INTO bounded VALUES ($1, 1)", .text(value))
    try session.execute("INSERT INTO named VALUES ('other'), ($1)", .text(value))
    let violations = [
      ("unique constraint", "INSERT INTO named VALUES ($1)"),
      ("unique constraint", "UPDATE named SET name = $1 WHERE name = 'other'"),
      ("foreign key constraint", "INSERT INTO child VALUES ('un' || $1)"),
      ("check constraint", "INSERT INTO bounded VALUES ('un' || $1, 0)"),
      ("not-null constraint", "INSERT INTO bounded VALUES ('un' || $1, NULL)"),
      ("exclusion constraint", "INSERT INTO bounded VALUES ($1, 1)"),
    ]
    for (number, violation) in violations.enumerated() {
      let error = #expect(throws: PostgresError.self) {
        try session.execute(Statement(name: "violation_\(number)", text: violation.1), .text(value))
      }
      #expect(error?.detail?.contains(value) == true, "\(violation): \(String(describing: error))")
    }
    server.stop()
    let log = String(decoding: try Descriptor(reading: "\(folder.path)/data/postgres.log").contents(), as: UTF8.self)
    for (constraint, _) in violations { #expect(log.contains(constraint), "\(log)") }
    #expect(!log.contains("zuleika"), "\(log)")
  }

  @Test("a new folder gets a database with UTF-8 and the C locale, whose rows survive a restart")
  func coldAndWarm() throws {
    let first = try EmbeddedPostgres.start(configuration())
    #expect(first.isOwner)
    let session = try connect(first)
    let row = try session.execute(
      """
      SELECT pg_encoding_to_char(encoding) AS encoding, datcollate::text AS collation,
        current_setting('listen_addresses') AS addresses, current_setting('TimeZone') AS zone
      FROM pg_database WHERE datname = current_database()
      """
    ).single()
    #expect(try row.get("encoding") == "UTF8")
    #expect(try row.get("collation") == "C")
    #expect(try row.get("addresses") == "")
    #expect(try row.get("zone") == "UTC")
    try session.executeScript("CREATE TABLE item AS SELECT 7 AS value", name: "item")
    first.stop()
    #expect(throws: PostgresError.self) { try Session.connect(first.url, timeout: .zero) }
    #expect(access("\(folder.path)/data/postgres.url", F_OK) != 0)

    let second = try EmbeddedPostgres.start(configuration())
    defer { second.stop() }
    #expect(try connect(second).execute("SELECT value FROM item").single().get("value") == 7)
  }

  @Test("a new database has data checksums, and one without them gets them, with its rows, while no process uses it")
  func checksums() throws {
    func server() throws -> (EmbeddedPostgres, Session) {
      let server = try EmbeddedPostgres.start(configuration())
      return (server, try connect(server))
    }
    func setting(_ session: borrowing Session) throws -> String {
      try session.execute("SHOW data_checksums").single().get(0)
    }
    #expect(throws: EmbeddedPostgresError.self) { try Checksums.enable(configuration()) }
    let (first, session) = try server()
    #expect(try setting(session) == "on")
    try session.executeScript("CREATE TABLE item AS SELECT 7 AS value", name: "item")
    #expect(throws: EmbeddedPostgresError.self) { try Checksums.enable(configuration()) }
    first.stop()
    #expect(try !Checksums.enable(configuration()))

    // As one that an earlier version has created.
    let cluster = try Cluster(in: try Folder.resolved("\(folder.path)/data"), configuration())
    let version = try #require(cluster.version)
    var former = ChildProcess.Configuration(
      path: try Binaries.installed(.creator(version)).checksums,
      arguments: ["--disable", "--no-sync", "--pgdata=\(cluster.layout.cluster)"])
    former.directory = "/"
    if cluster.user.isSwitched { former.user = (cluster.user.user, cluster.user.group) }
    #expect(try ChildProcess(former).wait() == .exited(0))
    let (second, other) = try server()
    #expect(try setting(other) == "off")
    second.stop()
    #expect(try Checksums.enable(configuration()))
    let (third, last) = try server()
    defer { third.stop() }
    #expect(try setting(last) == "on")
    #expect(try last.execute("SELECT value FROM item").single().get("value") == 7)
  }

  @Test("a symbolic link in the data folder is not followed", arguments: ["postgres.lock", "postgres.log"])
  func links(name: String) throws {
    let (data, target) = ("\(folder.path)/data", "\(folder.path)/target")
    try Folder.make(data, mode: 0o711)
    try #require(symlink(target, "\(data)/\(name)") == 0)
    #expect(throws: EmbeddedPostgresError.self) { try EmbeddedPostgres.start(configuration()) }
    #expect(access(target, F_OK) != 0)
  }

  @Test("a symbolic link in place of an unfinished file is replaced")
  func unfinishedLink() throws {
    let (data, target) = ("\(folder.path)/data", "\(folder.path)/target")
    try Folder.make(data, mode: 0o711)
    for name in ["postgres.id", "postgres.url"] { try #require(symlink(target, "\(data)/\(name).tmp") == 0) }
    try EmbeddedPostgres.start(configuration()).stop()
    #expect(access(target, F_OK) != 0)
  }

  @Test("a second process uses the server, which runs on when that process stops")
  func attaching() throws {
    let owner = try EmbeddedPostgres.start(configuration())
    let standBy = try EmbeddedPostgres.start(configuration())
    #expect(!standBy.isOwner)
    #expect(standBy.url == owner.url)
    standBy.stop()
    #expect(try connect(owner).execute("SELECT 1").single().get(0) == 1)
    owner.stop()
    owner.stop()
    let next = try EmbeddedPostgres.start(configuration())
    #expect(next.isOwner)
    next.stop()
  }

  @Test("a server that is killed or stopped is restarted", arguments: [SIGKILL, SIGQUIT, SIGINT])
  func restarts(signal: Int32) throws {
    let server = try EmbeddedPostgres.start(configuration())
    defer { server.stop() }
    try connect(server).executeScript("CREATE TABLE item AS SELECT 7 AS value", name: "item")
    let process = try #require(server.process)
    let session = try connect(server)
    #expect(kill(process, signal) == 0)
    try waitForEnd(of: session)
    #expect(try connect(server).execute("SELECT value FROM item").single().get("value") == 7)
    #expect(server.process != process)
  }

  @Test("the server ends with an owner that is killed, and the next owner finds all rows")
  func ownerKilled() throws {
    let owner = try OwnerProcess(dataFolder: configuration().dataFolder)
    #expect(owner.greeting.first == "owner")
    let server = try #require(owner.greeting.last.flatMap { Int32($0) })
    let session = try Session.connect(try owner.url, timeout: .seconds(20))
    try session.executeScript("CREATE TABLE item AS SELECT 7 AS value", name: "item")
    owner.kill()
    try waitForEnd(of: session)

    let next = try EmbeddedPostgres.start(configuration())
    defer { next.stop() }
    #expect(next.isOwner)
    #expect(!OrphanedServer(process: server, cluster: "\(folder.path)/data/postgres/data").isRunning)
    #expect(try connect(next).execute("SELECT value FROM item").single().get("value") == 7)
  }

  @Test("an owner that ends stops the server")
  func endsWithOwner() throws {
    let owner = try OwnerProcess(dataFolder: configuration().dataFolder)
    let server = try #require(owner.greeting.last.flatMap { Int32($0) })
    let process = OrphanedServer(process: server, cluster: "\(folder.path)/data/postgres/data")
    #expect(process.isRunning)
    #expect(owner.end() == .exited(0))
    #expect(!process.isRunning)
  }

  @Test("an unfinished cluster is replaced")
  func unfinishedCluster() throws {
    let data = "\(folder.path)/data/postgres/data.tmp"
    try Folder.make(data)
    try Descriptor(writing: "\(data)/PG_VERSION", replacing: true).write([1])
    let server = try EmbeddedPostgres.start(configuration())
    defer { server.stop() }
    #expect(server.isOwner)
    #expect(access(data, F_OK) != 0)
  }

  @Test("a postmaster.pid with the process id of another program does not prevent a start")
  func recycledProcessID() throws {
    let first = try EmbeddedPostgres.start(configuration())
    first.stop()
    // This process is alive and no server.
    let file = try Descriptor(
      writing: "\(folder.path)/data/postgres/data/postmaster.pid", replacing: true, mode: 0o644)
    try file.write(Array("\(getpid())\n\(folder.path)/data/postgres/data\n1\n5432\n".utf8))
    let second = try EmbeddedPostgres.start(configuration())
    defer { second.stop() }
    #expect(second.isOwner)
  }

  @Test("the socket of a folder with a long or unusual name is in another folder")
  func longName() throws {
    let name = "it's a long way, isn't it/" + String(repeating: "x", count: 90)
    try Folder.make("\(folder.path)/it's a long way, isn't it", mode: 0o711)
    let server = try EmbeddedPostgres.start(configuration(name))
    defer { server.stop() }
    #expect(try connect(server).execute("SELECT 1").single().get(0) == 1)
  }
}
