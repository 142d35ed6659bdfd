import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Major upgrade", .tags(.database, .process), .timeLimit(.minutes(60)))
struct UpgradeTests {
  @Test("a copy is complete if pg_restore ignores only its settings that an older server lacks, and says that it did")
  func errors() {
    let error = "pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter \"x\""
    let setting = "\(error)\nCommand was: SET x = 0;"
    let function = "\(error)\nCommand was: CREATE FUNCTION f() RETURNS int SET x = 0"
    let other = "pg_restore: error: could not execute query: ERROR:  relation \"post\" already exists"
    let end = "pg_restore: warning: errors ignored on restore: "
    let cases: [(ChildProcess.Ending, ChildProcess.Ending, String, String?)] = [
      (.exited(0), .exited(0), "", nil),
      (.exited(0), .exited(1), "\(setting)\n\(end)1\n", nil),
      (.exited(0), .exited(1), "\(setting)\n\(end)2\n", "pg_restore: \(end)2"),
      (.exited(0), .exited(1), "\(setting)\nout of memory\n", "pg_restore: out of memory"),
      (.exited(0), .exited(1), "\(function)\n\(end)1\n", error),
      (.exited(0), .exited(1), "\(setting)\n\(other)\n\(end)2\n", other),
      (.exited(0), .exited(1), "", "pg_restore: exited(1)"),
      (.killed(signal: SIGPIPE), .killed(signal: 9), "", "pg_restore: killed(signal: 9)"),
      (.exited(1), .exited(0), "", "pg_dump: exited(1)"),
      (.exited(1), .exited(1), "pg_dump: error: no server", "pg_dump: error: no server"),
    ]
    for (dumped, restored, log, failure) in cases {
      #expect(DatabaseCopy.failure(dumped, restored, log) == failure)
    }
  }

  @Test("what the database of the store does not contain is found, as a new cluster lacks it")
  func contents() throws {
    let folder = try TemporaryFolder()
    var configuration = EmbeddedPostgres.Configuration(dataFolder: "\(folder.path)/data")
    configuration.isDurable = false
    let server = try EmbeddedPostgres.start(configuration)
    defer { server.stop() }
    let session = try Session.connect(server.url, timeout: .seconds(20))
    let new = try ClusterContents(session)
    #expect(new.missing(in: new) == [])
    try session.execute("CREATE TABLE item (id int)")
    for statement: Statement in [
      "ALTER SYSTEM SET work_mem = '64MB'", "CREATE ROLE reader", "CREATE DATABASE reports",
      "ALTER DATABASE take5 SET statement_timeout = '1min'", "ALTER ROLE reader SET work_mem = '1MB'",
    ] { try session.execute(statement) }
    let cluster = try session.execute("SHOW data_directory").single().get(0, as: String.self)
    for (file, line) in [
      ("postgresql.conf", "max_connections = 321\nlater_setting = 1"),
      ("pg_hba.conf", "host all reader 10.0.0.1/32 scram-sha-256"),
    ] {
      let number = open("\(cluster)/\(file)", O_WRONLY | O_APPEND)
      try #require(number >= 0)
      try Descriptor(owning: number).write(Array("\n\(line)\n".utf8))
    }
    #expect(
      try ClusterContents(session).missing(in: new) == [
        "setting max_connections", "setting work_mem", "rules of pg_hba.conf", "role reader", "database reports",
        "database take5 SET statement_timeout=1min", "role reader SET work_mem=1MB",
      ])
  }

  @Test("both servers of an upgrade have folders and addresses of their own")
  func layouts() throws {
    let user = try ServerUser.current()
    for folder in ["/srv/take5", "/srv/" + String(repeating: "long", count: 30)] {
      let layout = Layout(dataFolder: folder, id: "id", user: user)
      #expect(layout.source.cluster == layout.cluster)
      #expect(layout.target.cluster.hasPrefix(layout.upgradeFolder))
      let sockets = [layout, layout.source, layout.target].map(\.socketFolder)
      #expect(Set(sockets).count == 3)
      for socket in sockets { #expect(socket.utf8.count + "/.s.PGSQL.5432".utf8.count <= 107) }
    }
  }
}
