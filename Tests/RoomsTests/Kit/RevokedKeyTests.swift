import Crypto
import Kit
import Model
import Postgres
import Rooms
import Store
import StoreTesting
import Testing

@Suite("Revoked API keys in the database", .tags(.database), .timeLimit(.minutes(60)))
struct RevokedKeyTests {
  @Test(
    "a key is dropped 90 days after its revocation, unless it is the newest, or what it has made or decided is stored")
  func dropping() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        let keys: [(name: String, revoked: String?)] = [
          ("valid", nil), ("long revoked", "91 days"), ("just revoked", "89 days"), ("of a token", "91 days"),
          ("of a ticket", "91 days"), ("of a decision", "91 days"), ("newest", "91 days"),
        ]
        var ids: [String: Int64] = [:]
        for (name, _) in keys {
          let hash = SHA256.digest(of: Array(name.utf8)).bytes
          ids[name] = try Keys.insert(named: name, hash: hash, scopes: [.read], session)
        }
        _ = try Tokens.insert(
          of: "ada", hash: SHA256.digest(of: [1]), minter: .key(try #require(ids["of a token"])), grant: nil,
          lifetime: 60, session)
        try session.execute(
          """
          INSERT INTO event_ticket (hash, user_id, minter, api_key_id, expires_at)
          VALUES (sha256('ticket'), 'ada', 'key', $1::bigint, clock_timestamp() + interval '1 minute')
          """, .integer(ids["of a ticket"]))
        try session.execute(
          """
          INSERT INTO moderation_case (public_id, user_id, cause, decision, decided_by, decided_at)
          VALUES (gen_random_uuid(), 'ada', 'moderator', 'approve', ($1::bigint)::text, clock_timestamp())
          """, .integer(ids["of a decision"]))
        for (name, revoked) in keys {
          try session.execute(
            "UPDATE api_key SET revoked_at = clock_timestamp() - $2::interval WHERE name = $1", .text(name),
            .text(revoked))
        }
        func names() throws -> [String] { try Keys.list(session).map(\.name) }
        #expect(try Keys.dropRevoked(session) == 1)
        #expect(try Keys.dropRevoked(session) == 0)
        #expect(try names() == ["valid", "just revoked", "of a token", "of a ticket", "of a decision", "newest"])
        try session.executeScript(
          "DELETE FROM user_token; DELETE FROM event_ticket; DELETE FROM moderation_case", name: "made")
        #expect(try Keys.dropRevoked(session) == 3)
        #expect(try names() == ["valid", "just revoked", "newest"])
      }
    }
  }

  @Test("each table that refers to a key keeps the key")
  func references() async throws {
    try await StoreFixture.with { fixture in
      let tables = try await fixture.pool.run { session in
        try session.execute(
          "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confrelid = 'api_key'::regclass"
        ).map { try $0.get(0, as: String.self) }
      }
      #expect(!tables.isEmpty)
      let statement = Keys.statements["drop_revoked_keys"].text
      for table in tables { #expect(statement.contains("FROM \(table) WHERE \(table).api_key_id"), "\(table)") }
    }
  }
}
