import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Major upgrade", .tags(.database, .process), .timeLimit(.minutes(15)))
struct UpgradeTests {
  @Test("errors of pg_restore about settings that an older server lacks are none, and all others are")
  func errors() {
    let setting = "pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter \"x\""
    let other = "pg_restore: error: could not execute query: ERROR:  relation \"post\" already exists"
    let cases: [(ChildProcess.Ending, ChildProcess.Ending, String, String?)] = [
      (.exited(0), .exited(0), "", nil),
      (.exited(0), .exited(1), setting, nil),
      (.exited(0), .exited(1), "\(setting)\n\(other)", other),
      (.exited(0), .exited(1), "", "pg_restore: exited(1)"),
      (.exited(0), .killed(signal: 9), setting, "pg_restore: killed(signal: 9)"),
      (.exited(1), .exited(0), "", "pg_dump: exited(1)"),
      (.exited(1), .exited(1), "pg_dump: error: no server", "pg_dump: error: no server"),
    ]
    for (dumped, restored, log, failure) in cases {
      #expect(DatabaseCopy.failure(dumped, restored, log) == failure)
    }
  }

  @Test("both servers of an upgrade have folders and addresses of their own")
  func layouts() throws {
    let user = try ServerUser.current()
    for folder in ["/srv/take5", "/srv/" + String(repeating: "long", count: 30)] {
      let layout = Layout(dataFolder: folder, id: "id", user: user)
      #expect(layout.present.cluster == layout.cluster)
      #expect(layout.next.cluster.hasPrefix(layout.upgradeFolder))
      let sockets = [layout, layout.present, layout.next].map(\.socketFolder)
      #expect(Set(sockets).count == 3)
      for socket in sockets { #expect(socket.utf8.count + "/.s.PGSQL.5432".utf8.count <= 107) }
    }
  }
}
