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
  /// How a row of each table that names a key is stored, with the key as `$1`.
  private static let naming: [String: Statement] = [
    "user_token": """
    INSERT INTO user_token (public_id, user_id, hash, minter, api_key_id, expires_at)
    VALUES (gen_random_uuid(), 'ada', sha256('token'), 'key', $1::bigint, clock_timestamp() + interval '1 minute')
    """,
    "event_ticket": """
    INSERT INTO event_ticket (hash, user_id, minter, api_key_id, expires_at)
    VALUES (sha256('ticket'), 'ada', 'key', $1::bigint, clock_timestamp() + interval '1 minute')
    """,
    "device": """
    INSERT INTO device (user_id, token, provider, address, shard, seen, api_key_id)
    VALUES ('ada', 'phone', 'fcm', 'phone', 0, 0, $1::bigint)
    """,
    "moderation_case": """
    INSERT INTO moderation_case (public_id, user_id, cause, decision, decided_by, decided_at)
    VALUES (gen_random_uuid(), 'ada', 'moderator', 'approve', ($1::bigint)::text, clock_timestamp())
    """,
  ]

  @Test(
    "a key is dropped 90 days after its revocation, unless it is the newest, or what it has made or decided is stored")
  func dropping() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        let tables = Self.naming.keys.sorted()
        var keys: [(name: String, revoked: String?)] = [
          ("valid", nil), ("long revoked", "91 days"), ("just revoked", "89 days"),
        ]
        for name in tables + ["newest"] { keys.append((name, "91 days")) }
        var ids: [String: Int64] = [:]
        for (name, _) in keys {
          let hash = SHA256.digest(of: Array(name.utf8)).bytes
          ids[name] = try Keys.insert(named: name, hash: hash, scopes: [.read], session)
        }
        for (table, insertion) in Self.naming { try session.execute(insertion, .integer(ids[table])) }
        for (name, revoked) in keys {
          try session.execute(
            "UPDATE api_key SET revoked_at = clock_timestamp() - $2::interval WHERE name = $1", .text(name),
            .text(revoked))
        }
        func names() throws -> [String] { try Keys.list(session).map(\.name) }
        #expect(try Keys.dropRevoked(in: .all, session) == 1)
        #expect(try Keys.dropRevoked(in: .all, session) == 0)
        #expect(try names() == ["valid", "just revoked"] + tables + ["newest"])
        for table in tables {
          try session.execute(Statement(name: "drop", text: "DELETE FROM \(table)"))
          #expect(try Keys.dropRevoked(in: .all, session) == 1, "\(table)")
          #expect(try !names().contains(table))
        }
        #expect(try names() == ["valid", "just revoked", "newest"])
      }
    }
  }

  @Test("each table that refers to a key is one that keeps it")
  func references() async throws {
    try await StoreFixture.with { fixture in
      let tables = try await fixture.pool.run { session in
        try session.execute(
          "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confrelid = 'api_key'::regclass"
        ).map { try $0.get(0, as: String.self) }
      }
      #expect(!tables.isEmpty && Set(tables).isSubset(of: Self.naming.keys))
    }
  }
}
