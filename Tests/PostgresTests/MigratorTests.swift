import Postgres
import PostgresTesting
import Testing

@Suite("Migrator", .tags(.database))
struct MigratorTests {
  private let first = Migration(
    version: 1, name: "first", Array("CREATE TABLE a (id int); CREATE TABLE b (id int);".utf8))
  private let second = Migration(version: 2, name: "second", Array("INSERT INTO a VALUES (7);".utf8))
  private let broken = Migration(version: 3, name: "broken", Array("CREATE TABLE c (id int); SELECT 1/0;".utf8))

  @Test("Runs what is missing, in order, once")
  func runsOnce() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, patience: .seconds(5))
      #expect(try Migrator([first]).migrate(session) == [first])
      #expect(try Migrator([second, first]).migrate(session) == [second])
      #expect(try Migrator([first, second]).migrate(session) == [])
      #expect(try session.execute("SELECT id FROM a").single().get("id") == 7)
    }
  }

  @Test("A failing step leaves nothing behind, not even the steps before it")
  func allOrNothing() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, patience: .seconds(5))
      let error = #expect(throws: PostgresError.self) { try Migrator([first, second, broken]).migrate(session) }
      #expect(error?.statement == "migration 3 broken")
      #expect(try session.execute("SELECT to_regclass('a') IS NULL").single().get(0) == true)
    }
  }

  @Test("Many at once: one does it")
  func concurrent() async throws {
    try await withDatabase { url in
      let migrator = Migrator([first, second])
      let done = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<6 {
          let connection = try Connection(url, name: "migrate-\(number)")
          group.addTask { try await connection.run { try migrator.migrate($0).count } }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(done.sorted() == [0, 0, 0, 0, 0, 2])
    }
  }
}
