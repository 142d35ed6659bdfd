import Postgres
import PostgresTesting
import Testing

@Suite("A statement right behind another", .tags(.database))
struct FollowingTests {
  private static let insert: Statement = "INSERT INTO word (text) VALUES ($1) RETURNING text"
  /// Of its own transaction: what is there by then is committed.
  private static let copy: Statement =
    "INSERT INTO seen (text, process) SELECT text, $1::int FROM word ORDER BY text DESC LIMIT 1"

  private static func with(_ body: (Pool, Pool) async throws -> Void) async throws {
    try await withDatabase { url in
      let direct = Pool(url, size: 1)
      try await direct.run { session in
        try session.executeScript(
          "CREATE TABLE word (text text PRIMARY KEY); CREATE TABLE seen (text text, process int)", name: "test")
      }
      try await withPooler(before: url) { url in
        let pooled = Pool(url, size: 1)
        try await body(direct, pooled)
        await pooled.close()
      }
      await direct.close()
    }
  }

  private static func seen(_ session: Session) throws -> [String] {
    try session.execute("SELECT text FROM seen ORDER BY text").map { try $0.get(0, as: String.self) }
  }

  @Test("both are done in their order, and the connection goes on, directly and behind a pooler")
  func order() async throws {
    try await Self.with { direct, pooled in
      for (pool, words) in [(direct, ["a", "b", "c"]), (pooled, ["d", "e", "f"])] {
        for word in words {
          let text = try await pool.run { session in
            try session.execute(Self.insert, [.text(word)], then: Self.copy, [.integer(1)])
              .single().get(0, as: String.self)
          }
          #expect(text == word)
        }
        // What was not read yet of the last one is in nobody's way.
        try await pool.transaction { session in _ = try session.execute("SELECT 1") }
        let seen = try await pool.run { session in try Self.seen(session) }
        #expect(seen.suffix(3) == words[...])
      }
    }
  }

  @Test("an error of the first is thrown and of the second is not, and neither harms what follows")
  func failing() async throws {
    try await Self.with { direct, _ in
      try await direct.run { session in
        _ = try session.execute(Self.insert, [.text("a")], then: "SELECT 1 / $1::int", [.integer(0)])
        #expect(throws: PostgresError.self) {
          _ = try session.execute(Self.insert, [.text("a")], then: Self.copy, [.integer(1)])
        }
        _ = try session.execute(Self.insert, [.text("b")])
        let seen = try Self.seen(session)
        #expect(seen == ["a"])
      }
    }
  }

  @Test("it is refused in a transaction, which could still roll back")
  func transaction() async throws {
    try await Self.with { direct, _ in
      await #expect(throws: PostgresError.self) {
        try await direct.transaction { session in
          _ = try session.execute(Self.insert, [.text("a")], then: Self.copy, [.integer(1)])
        }
      }
      let words = try await direct.run { session in try session.execute("SELECT FROM word").count }
      #expect(words == 0)
    }
  }
}
