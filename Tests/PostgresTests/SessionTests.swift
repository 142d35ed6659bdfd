import Postgres
import PostgresTesting
import Testing

@Suite("Session", .tags(.database))
struct SessionTests {
  private func withSession(preparing: Bool = true, _ body: (Session) throws -> Void) async throws {
    try await withDatabase { url in
      var url = url
      url.pooling = preparing ? .session : .transaction
      try body(try Session.connect(url, timeout: .seconds(5)))
    }
  }

  @Test("every type is read back as it was sent", arguments: [true, false])
  func roundTrip(preparing: Bool) async throws {
    try await withSession(preparing: preparing) { session in
      let statement = Statement(
        name: "round trip",
        text: """
          SELECT $1::bigint AS i, $2::text AS t, $3::bytea AS b, $4::float8 AS d, $5::bool AS f, $6::timestamptz AS at,
            $7::uuid AS u, $8::jsonb AS j, $9::text AS missing, $10::smallint AS small, $11::real AS single
          """)
      let bytes = (0...255).map { UInt8($0) }
      let uuid = "0190a6f2-7c1e-7abc-8def-0123456789ab"
      // Twice, so that the prepared statement is used again.
      for _ in 0..<2 {
        let row = try session.execute(
          statement, .integer(Int64.min), .text("zwölf \u{1F600} '\\\""), .bytes(bytes), .double(-0.1), .bool(true),
          .timestamp(microseconds: 1_700_000_000_123_456), .text(uuid), .text(#"{"a": [1, null]}"#), .text(nil),
          .integer(-7), .double(0.5)
        ).single()
        #expect(try row.get("i") == Int64.min)
        #expect(try row.get("t") == "zwölf \u{1F600} '\\\"")
        #expect(try row.get("b") == bytes)
        #expect(try row.get("d") == -0.1)
        #expect(try row.get("f") == true)
        #expect(try row.get("at", as: Int64.self) == 1_700_000_000_123_456)
        #expect(try row.get("u") == uuid)
        #expect(try row.get("j") == #"{"a": [1, null]}"#)
        #expect(try row.get("missing", as: String?.self) == nil)
        #expect(try row.get("small") == -7)
        #expect(try row.get("single") == 0.5)
        #expect(try row.get(0, as: Int64.self) == Int64.min)
      }
    }
  }

  @Test("a session deallocates the statements that it has not used for longest")
  func prepared() async throws {
    try await withSession { session in
      let frequent = Statement(name: "frequent", text: "SELECT 0::bigint")
      func execute(_ number: Int) throws {
        let statement = Statement(name: "list \"\(number)\"", text: "SELECT \(number)::bigint")
        #expect(try session.execute(statement).single().get(0, as: Int.self) == number)
        try session.execute(frequent)
      }
      for number in 1...400 { try execute(number) }
      // Within a transaction whose BEGIN is sent with the first statement, too.
      try session.transaction { _ in for number in 1...300 { try execute(number) } }
      let names = try session.execute("SELECT name FROM pg_prepared_statements").map { try $0.get(0, as: String.self) }
      #expect(names.count <= 256)
      #expect(names.contains { $0.hasPrefix("frequent ") })
    }
  }

  @Test("times are read in microseconds, infinite ones as the extreme values")
  func time() async throws {
    try await withSession { session in
      for (text, time) in [("infinity", Int64.max), ("-infinity", .min + 946_684_800_000_000)] {
        #expect(try session.execute("SELECT timestamptz '\(text)' AS at").single().get("at") == time)
      }
      let row = try session.execute("SELECT timestamptz '2024-02-29 12:00:00.5+02' AS at").single()
      #expect(try row.get("at", as: Int64.self) == 1_709_200_800_500_000)
    }
  }

  @Test("array elements with any content are read back")
  func arrays() async throws {
    try await withSession { session in
      let texts: [String?] = ["plain", "", "a,b", "{x}", "quote\"", "back\\slash", nil, "NULL"]
      let rows = try session.execute(
        """
        SELECT i, t, b, d FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::float8[])
        WITH ORDINALITY AS x(i, t, b, d, number) ORDER BY number
        """, .integers([1, nil]), .texts(texts), .byteStrings([[0, 255], nil, []]), .texts(["0.25"]))
      #expect(try rows.map { try $0.get("t", as: String?.self) } == texts)
      #expect(try rows[0].get("i", as: Int64?.self) == 1)
      #expect(try rows[1].get("i", as: Int64?.self) == nil)
      #expect(try rows[0].get("b", as: [UInt8].self) == [0, 255])
      #expect(try rows[2].get("b", as: [UInt8].self) == [])
      #expect(try rows[0].get("d", as: Double.self) == 0.25)
    }
  }

  @Test("an error has the SQLSTATE, the statement and the constraint")
  func serverError() async throws {
    try await withSession { session in
      try session.executeScript("CREATE TABLE t (id int CONSTRAINT only_once PRIMARY KEY)", name: "t")
      let insert = Statement(name: "t.insert", text: "INSERT INTO t (id) VALUES ($1)")
      #expect(try session.execute(insert, .integer(1)).affected == 1)
      let error = try #require(throws: PostgresError.self) { try session.execute(insert, .integer(1)) }
      #expect(error.sqlState == "23505")
      #expect(error.sqlState == "23505" && !error.isConnectionLost && !error.isUnavailable)
      #expect(error.constraint == "only_once")
      #expect(error.statement == "t.insert")
    }
  }

  @Test("reading a missing column, NULL or another type is an error that names the column")
  func decoding() async throws {
    try await withSession { session in
      let row = try session.execute("SELECT NULL::text AS empty, 'x' AS text").single()
      for read in [{ _ = try row.get("empty", as: String.self) }, { _ = try row.get("text", as: Int64.self) }] {
        let error = try #require(throws: PostgresError.self) { try read() }
        #expect(error.kind == .decoding)
      }
      let error = try #require(throws: PostgresError.self) { _ = try row.get("absent", as: String.self) }
      #expect(error.message.contains("absent"))
      #expect(throws: PostgresError.self) { try session.execute("SELECT WHERE false").single() }
    }
  }

  @Test("a transaction commits when its body returns and rolls back when it throws")
  func transactions() async throws {
    struct Refused: Error {}
    try await withSession { session in
      try session.executeScript("CREATE TABLE t (id int PRIMARY KEY)", name: "t")
      try session.transaction { try $0.execute("INSERT INTO t VALUES (1)") }
      #expect(throws: Refused.self) {
        try session.transaction { session in
          try session.execute("INSERT INTO t VALUES (2)")
          throw Refused()
        }
      }
      #expect(try session.execute("SELECT id FROM t").map { try $0.get("id", as: Int.self) } == [1])
    }
  }

  @Test("the server terminates an idle transaction and releases its locks")
  func idleTransaction() async throws {
    try await withDatabase { url in
      let other = try Session.connect(url, timeout: .seconds(5))
      try other.executeScript("CREATE TABLE t (id int PRIMARY KEY)", name: "t")
      let session = try Session.connect(url.with(idleTransactionLimit: .milliseconds(1)), timeout: .seconds(5))
      let error = try #require(throws: PostgresError.self) {
        try session.transaction { session in
          // On a busy machine the timeout may pass before this statement.
          let first = Result { try session.execute("INSERT INTO t VALUES (1)") }
          // Waits until the transaction has ended.
          try other.execute("INSERT INTO t VALUES (1)")
          _ = try first.get()
          try session.execute("INSERT INTO t VALUES (2)")
        }
      }
      #expect(error.isConnectionLost)
      #expect(try other.execute("SELECT id FROM t").map { try $0.get("id", as: Int.self) } == [1])
    }
  }

  @Test("a transaction is open before its first statement, which may fail, and one without a statement is none")
  func firstStatement() async throws {
    try await withSession { session in
      let runs: [((Session) throws -> Void) throws -> Void] = [
        { try session.transaction($0) }, { try session.snapshot($0) },
      ]
      for run in runs {
        try run { session in
          #expect(session.isInTransaction)
          #expect(throws: PostgresError.self) { try session.transaction { _ in } }
        }
        #expect(!session.isInTransaction)
        let error = try #require(throws: PostgresError.self) { try run { _ = try $0.execute("SELECT 1/0") } }
        #expect(error.sqlState == "22012")
        #expect(!session.isInTransaction)
        try run { session in
          // A script, too, may be the first one.
          try session.executeScript("SELECT 1; SELECT 2", name: "two")
          #expect(try session.execute("SELECT 3").single().get(0, as: Int.self) == 3)
        }
      }
    }
  }

  @Test("statements that are sent together return the rows of each, and the first error ends them")
  func together() async throws {
    try await withSession { session in
      try session.executeScript("CREATE TABLE t (id int)", name: "t")
      let insert: Statement = "INSERT INTO t VALUES ($1::int)"
      let failing: Statement = "SELECT 1 / $1::int"
      for isFirst in [true, false] {
        try session.transaction { session in
          // BEGIN goes with them, or has gone before.
          if !isFirst { try session.execute("SELECT 1") }
          let rows = try session.execute(together: [
            ("SELECT 1", []), (insert, [.integer(1)]), ("SELECT $1::int", [.integer(3)]),
          ])
          #expect(rows.map(\.count) == [1, 0, 1])
          #expect(try rows[2].single().get(0, as: Int.self) == 3)
        }
        let error = try #require(throws: PostgresError.self) {
          try session.transaction { session in
            if !isFirst { try session.execute("SELECT 1") }
            _ = try session.execute(
              together: [(insert, [.integer(2)]), (failing, [.integer(0)]), (insert, [.integer(3)])])
          }
        }
        #expect(error.sqlState == "22012")
      }
      #expect(try session.execute("SELECT id FROM t").map { try $0.get("id", as: Int.self) } == [1, 1])
      #expect(try session.execute(together: []).isEmpty)
    }
  }

  @Test("a snapshot sees nothing that is committed after its first statement, and writes nothing")
  func snapshots() async throws {
    try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      let other = try Session.connect(url, timeout: .seconds(5))
      try other.executeScript("CREATE TABLE t (id int)", name: "t")
      for before in 0..<3 {
        let counts = try session.snapshot { session in
          let first = try session.execute("SELECT FROM t").count
          try other.execute("INSERT INTO t VALUES (1)")
          return [first, try session.execute("SELECT FROM t").count]
        }
        #expect(counts == [before, before])
        // Nothing has waited for its COMMIT.
        let error = try #require(throws: PostgresError.self) {
          try session.snapshot { _ = try $0.execute("INSERT INTO t VALUES (2)") }
        }
        #expect(error.sqlState == "25006")
        let after = try session.transaction { try $0.execute("SELECT FROM t").count }
        #expect(after == before + 1)
      }
    }
  }

  @Test("the commit of a failed transaction is an error")
  func failedCommit() async throws {
    try await withSession { session in
      let error = try #require(throws: PostgresError.self) {
        try session.transaction { session in _ = try? session.execute("SELECT 1/0") }
      }
      #expect(error.sqlState == "25P02")
      #expect(!session.isInTransaction)
    }
  }
}
