import Postgres
import Testing

@Suite("Database URL")
struct DatabaseURLTests {
  @Test("Neither its description nor an error shows the password")
  func hidesPassword() throws {
    let url = try DatabaseURL("postgresql://moritz:geheim@127.0.0.1:1/take5?connect_timeout=1")
    #expect(!"\(url)".contains("geheim"))
    #expect(url.connectionString.contains("geheim"))
    let refused = try #require(throws: PostgresError.self) { try Session.connect(url, timeout: .zero) }
    #expect(!"\(refused)".contains("geheim"))
    #expect(refused.isUnavailable)
    #expect(refused.remedy != nil)
    let malformed = try #require(throws: PostgresError.self) { try DatabaseURL("postgresql:/moritz:geheim@host") }
    #expect(!"\(malformed)".contains("geheim"))
  }

  @Test("The keyword form reads back as the same database, quotes and blanks included")
  func roundTrip() throws {
    let url = DatabaseURL(socketFolder: "/tmp/it's a folder\\", user: "take5", database: "take5")
    #expect(try DatabaseURL(url.connectionString) == url)
    #expect(url.with(database: "other").database == "other")
  }

  @Test("Programs that are started find the same database in libpq's variables")
  func environment() throws {
    let url = try DatabaseURL("postgresql://moritz:geheim@127.0.0.1:5433/take5?connect_timeout=1")
    #expect(
      url.environment == [
        "PGHOST": "127.0.0.1", "PGPORT": "5433", "PGUSER": "moritz", "PGPASSWORD": "geheim", "PGDATABASE": "take5",
      ])
  }
}
