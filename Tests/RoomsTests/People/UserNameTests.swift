import Blobs
import Crypto
import Kit
import Model
import Platform
import Postgres
import PostgresTesting
import Rooms
import Store
import Testing

@Suite("User names", .tags(.database))
struct UserNameTests {
  @Test("a name is looked up without regard to the case of ASCII letters alone, whatever the locale of the database")
  func locale() async throws {
    try await withDatabase { url in
      // Where the lower case of U+0130 is an i.
      let name = "utf8_of_\(url.database ?? "")"
      let admin = try Session.connect(url, timeout: .seconds(5))
      try admin.executeScript(
        "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'",
        name: "create")
      let pool = Pool(url.with(database: name), size: 1)
      try await pool.run { session in
        try Migrator(.all).migrate(session)
        let user = try session.transaction { session in
          try Accounts.register(Profile(userName: "Mississippi"), password: PasswordHash(of: "correct horse"), session)
        }
        #expect(try Accounts.find(named: "mISSISSIPPI", session)?.user == user)
        #expect(try Accounts.find(named: "mİssissippi", session) == nil)
        #expect(try People.findID("mİssissippi", session) == nil)
        #expect(try People.list(like: "MISSI", for: .unrestricted, limit: 5, session).map(\.id) == [user])
        #expect(throws: UserNameTaken.self) {
          try session.transaction { session in
            try People.save(ProfileChange(Profile(userName: "MISSISSIPPI")), of: "other", for: .unrestricted, session)
          }
        }
        try session.execute("SET enable_seqscan = off")
        let plan = try session.execute(
          """
          EXPLAIN SELECT FROM app_user WHERE lower(user_name COLLATE "C") = 'ada' AND user_name IS NOT NULL
          """
        ).map { try $0.get(0, as: String.self) }.joined()
        #expect(plan.contains("app_user_folded_user_name"))
      }
      await pool.close()
      try admin.executeScript("DROP DATABASE \(name)", name: "drop")
    }
  }
}
