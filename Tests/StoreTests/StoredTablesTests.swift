import Postgres
import PostgresTesting
import SchemaTesting
import StoreTesting
import Testing

@Suite("Tables, by what is left in them", .tags(.database))
struct StoredTablesTests {
  @Test("each table of a store is in one of the lists, and nothing waits in a new store")
  func listed() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        let listed = StoredTables.lasting.union(StoredTables.waiting.keys)
        #expect(try StoredTables.names(session) == listed)
        #expect(StoredTables.lasting.count + StoredTables.waiting.count == listed.count)
        #expect(try StoredTables.violations(session) == [])
        try session.executeScript("CREATE TABLE later (id int)", name: "later")
        #expect(try StoredTables.violations(session) == ["the table later is in no list"])
      }
    }
  }
}
