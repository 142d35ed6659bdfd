import Testing

@testable import Postgres

@Suite("Database URL")
struct DatabaseURLTests {
  @Test("neither the description nor an error contains the password")
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

  @Test("the keyword/value form is parsed to the same address, including quotes and spaces")
  func roundTrip() throws {
    let url = DatabaseURL(socketFolder: "/tmp/it's a folder\\", user: "take5", database: "take5")
    #expect(try DatabaseURL(url.connectionString) == url)
    #expect(url.with(database: "other").database == "other")
  }

  @Test("of several hosts the one that accepts writes is used, unless the URL says otherwise")
  func hosts() throws {
    func attributes(_ text: String) throws -> String? {
      try DatabaseURL(text).withKeywordsAndValues { keywords, values in
        var index = 0
        while let keyword = keywords[index] {
          if String(cString: keyword) == "target_session_attrs" { return values[index].map { String(cString: $0) } }
          index += 1
        }
        return nil
      }
    }
    #expect(try attributes("postgresql://db-1,db-2:5433/take5") == "read-write")
    #expect(try attributes("postgresql://db-1,db-2/take5?target_session_attrs=any") == "any")
    #expect(try attributes("host=db-1 dbname=take5") == nil)
    let url = try DatabaseURL("postgresql://db-1,db-2/take5?target_session_attrs=primary")
    #expect(url.environment["PGTARGETSESSIONATTRS"] == "primary" && url.environment["PGHOST"] == "db-1,db-2")
  }

  @Test("the environment variables of libpq contain the same address")
  func environment() throws {
    let url = try DatabaseURL("postgresql://moritz:geheim@127.0.0.1:5433/take5?connect_timeout=1")
    #expect(
      url.environment == [
        "PGHOST": "127.0.0.1", "PGPORT": "5433", "PGUSER": "moritz", "PGPASSWORD": "geheim", "PGDATABASE": "take5",
      ])
  }
}
