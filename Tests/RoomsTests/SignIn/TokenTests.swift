import Crypto
import Kit
import Model
import Postgres
import Rooms
import Store
import StoreTesting
import Testing

@Suite("User tokens in the database", .tags(.database), .timeLimit(.minutes(60)))
struct TokenTests {
  @Test("tokens are dropped a day after they expired, and others stay")
  func expired() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        for (name, age) in [("long expired", "25 hours"), ("just expired", "1 hour"), ("valid", "-1 hour")] {
          let token = try Tokens.insert(
            of: "ada", hash: SHA256.digest(of: Array(name.utf8)), minter: .operatorKey, grant: nil, lifetime: 60,
            session)
          try session.execute(
            "UPDATE user_token SET expires_at = clock_timestamp() - $1::interval WHERE public_id = $2::uuid",
            .text(age),
            .text("\(token.id)"))
        }
        #expect(try Tokens.dropExpired(session) == 1)
        #expect(try Tokens.dropExpired(session) == 0)
        #expect(try Tokens.list(of: "ada", PageRequest(), session).items.count == 1)
      }
      #expect(try await fixture.count("user_token") == 2)
    }
  }

  @Test("the pages of a user's tokens are complete, newest first")
  func pages() async throws {
    try await StoreFixture.with { fixture in
      let (stored, listed) = try await fixture.pool.run { session in
        let stored = try (0..<5).map { number in
          try Tokens.insert(
            of: "ada", hash: SHA256.digest(of: [UInt8(number)]), minter: .anybody,
            grant: UploadGrant(kinds: [.photo], bytes: 10), lifetime: 60, session)
        }
        var listed: [UserToken] = []
        var page = PageRequest(limit: 2)
        repeat {
          let found = try Tokens.list(of: "ada", page, session)
          listed += found.items
          page.after = found.next
        } while page.after != nil
        return (stored, listed)
      }
      #expect(listed == stored.reversed())
    }
  }
}
