import Postgres
import PostgresTesting
import Testing

@Suite("Statements after COMMIT", .tags(.database))
struct AfterCommitTests {
  private static let insert: Statement = "INSERT INTO word (text) VALUES ($1)"
  /// Runs in its own transaction: sees only committed rows.
  private static let copy = Statement(
    name: "copy",
    text: "INSERT INTO seen (text, transaction) SELECT max(text) || $1, pg_current_xact_id()::text FROM word")

  private static func with(_ body: (Pool, Pool) async throws -> Void) async throws {
    try await withDatabase { url in
      let direct = Pool(url, size: 1)
      try await direct.run { session in
        try session.executeScript(
          """
          CREATE TABLE word (text text PRIMARY KEY, transaction text DEFAULT pg_current_xact_id()::text);
          CREATE TABLE seen (text text, transaction text);
          CREATE TABLE late (text text REFERENCES word DEFERRABLE INITIALLY DEFERRED)
          """, name: "test")
      }
      try await withPooler(before: url) { url in
        let pooled = Pool(url, size: 1)
        try await body(direct, pooled)
        await pooled.close()
      }
      await direct.close()
    }
  }

  private static func seen(_ pool: Pool) async throws -> [String] {
    try await pool.run { session in
      try session.execute("SELECT text FROM seen ORDER BY text").map { try $0.get(0, as: String.self) }
    }
  }

  @Test("the statement sees the committed rows in a transaction of its own, directly and behind a pooler")
  func order() async throws {
    try await Self.with { direct, pooled in
      for (pool, words) in [(direct, ["a", "b", "c"]), (pooled, ["d", "e", "f"])] {
        for word in words {
          try await pool.transaction { session in
            _ = try session.execute(Self.insert, .text(word))
            try session.executeAfterCommit(Self.copy, .text("1"))
            try session.executeAfterCommit(Self.copy, .text("2"))
          }
        }
        // The next transaction reads the remaining results first.
        try await pool.transaction { session in _ = try session.execute("SELECT 1") }
        #expect(try await Self.seen(pool).suffix(6) == words.flatMap { [$0 + "1", $0 + "2"] }[...])
      }
      let shared = try await direct.run { session in
        try session.execute("SELECT FROM word JOIN seen USING (transaction)").count
      }
      #expect(shared == 0)
    }
  }

  @Test("its error is ignored, and the connection can be used")
  func failing() async throws {
    try await Self.with { direct, _ in
      for word in ["a", "b"] {
        try await direct.transaction { session in
          _ = try session.execute(Self.insert, .text(word))
          try session.executeAfterCommit("SELECT 1 / $1::int", .integer(0))
          try session.executeAfterCommit(Self.copy, .text("1"))
        }
      }
      let words = try await direct.run { session in try session.execute("SELECT FROM word").count }
      #expect(words == 2)
    }
  }

  @Test("it does not run after the rollback of its transaction or savepoint")
  func rollback() async throws {
    try await Self.with { direct, _ in
      await #expect(throws: PostgresError.self) {
        try await direct.transaction { session in
          _ = try session.execute(Self.insert, .text("a"))
          try session.executeAfterCommit(Self.copy, .text("1"))
          _ = try session.execute(Self.insert, .text("a"))
        }
      }
      try await direct.transaction { session in
        _ = try session.execute(Self.insert, .text("b"))
        try? session.savepoint { session in
          try session.executeAfterCommit(Self.copy, .text("1"))
          _ = try session.execute(Self.insert, .text("b"))
        }
        try session.executeAfterCommit(Self.copy, .text("2"))
      }
      #expect(try await Self.seen(direct) == ["b2"])
    }
  }

  @Test("a commit that fails or becomes a rollback is an error")
  func failingCommit() async throws {
    try await Self.with { direct, pooled in
      for pool in [direct, pooled] {
        let late = await #expect(throws: PostgresError.self) {
          try await pool.transaction { session in
            _ = try session.execute("INSERT INTO late VALUES ('nowhere')")
            try session.executeAfterCommit(Self.copy, .text("1"))
          }
        }
        #expect(late?.sqlState == "23503")
        let rolledBack = await #expect(throws: PostgresError.self) {
          try await pool.transaction { session in
            try session.executeAfterCommit(Self.copy, .text("1"))
            _ = try? session.execute("SELECT 1 / 0")
          }
        }
        #expect(rolledBack?.sqlState == "25P02")
        let one = try await pool.transaction { session in
          try session.execute("SELECT 1").single().get(0, as: Int.self)
        }
        #expect(one == 1)
      }
      // It ran after each COMMIT that failed, and not after the rollbacks.
      #expect(try await direct.run { session in try session.execute("SELECT FROM seen").count } == 2)
    }
  }

  @Test("outside of a transaction it runs at once, and its error is thrown")
  func atOnce() async throws {
    try await Self.with { direct, _ in
      try await direct.run { session in
        _ = try session.execute(Self.insert, .text("a"))
        try session.executeAfterCommit(Self.copy, .text("1"))
        #expect(throws: PostgresError.self) { try session.executeAfterCommit("SELECT 1 / $1::int", .integer(0)) }
      }
      #expect(try await Self.seen(direct) == ["a1"])
    }
  }
}
