import Platform
import Postgres
import PostgresTesting
import Testing

@Suite("Connection", .tags(.database))
struct ConnectionTests {
  /// Terminates a backend.
  private func terminate(_ process: Int, _ url: DatabaseURL) throws {
    let session = try Session.connect(url, timeout: .seconds(5))
    try session.execute("SELECT pg_terminate_backend($1::int, 10000)", .integer(process))
  }

  @Test("a connection that was lost while idle is replaced before anything is sent")
  func replacesDeadConnection() async throws {
    try await withDatabase { url in
      let connection = try Connection(url, name: "test")
      let statement = Statement(name: "pid", text: "SELECT pg_backend_pid() AS pid")
      let first = try await connection.run { try $0.execute(statement).single().get("pid", as: Int.self) }
      try terminate(first, url)
      let second = try await connection.run { try $0.execute(statement).single().get("pid", as: Int.self) }
      #expect(first != second)
    }
  }

  @Test("a server that refuses a connection is reachable, and says by its SQLSTATE that another attempt is in vain")
  func ping() async throws {
    try await withDatabase { url in
      let refused = Pool(url.with(database: "none of that name"), size: 1, timeout: .seconds(1))
      let error = await #expect(throws: PostgresError.self) { try await refused.run { _ in } }
      #expect(error?.isUnavailable == true && error?.sqlState == "3D000")
      let atOnce = url.with(database: "none of that name")
      #expect(throws: PostgresError.self) { try Session.connect(atOnce, timeout: .seconds(3600)) }
      #expect(await refused.isReachable())
      let unreachable = Pool(try DatabaseURL("host=/nonexistent dbname=take5"), size: 1)
      #expect(await !unreachable.isReachable())
      await refused.close()
      await unreachable.close()
    }
  }

  @Test("a transaction whose connection is lost fails and is not repeated")
  func lostInTransaction() async throws {
    try await withDatabase { url in
      let connection = try Connection(url, name: "test")
      try await connection.run { try $0.executeScript("CREATE TABLE t (id int)", name: "t") }
      let runs = Shared(0)
      await #expect {
        try await connection.transaction { session in
          runs.withLock { $0 += 1 }
          try session.execute("INSERT INTO t VALUES (1)")
          try terminate(try session.execute("SELECT pg_backend_pid()").single().get(0), url)
          try session.execute("SELECT 1")
        }
      } throws: { error in
        (error as? PostgresError)?.isConnectionLost == true
      }
      #expect(runs.withLock { $0 } == 1)
      #expect(try await connection.run { try $0.execute("SELECT FROM t").count } == 0)
    }
  }

  @Test("a transaction that a body leaves open is not continued by the next body")
  func forgottenTransaction() async throws {
    try await withDatabase { url in
      let connection = try Connection(url, name: "test")
      try await connection.run {
        try $0.executeScript("CREATE TABLE t (id int); BEGIN; INSERT INTO t VALUES (1)", name: "t")
      }
      try await connection.run { session in
        #expect(!session.isInTransaction)
      }
    }
  }

  @Test("a connection to a read-only server is replaced, even if the body ignores the error")
  func readOnly() async throws {
    try await withDatabase { url in
      let connection = try Connection(url, name: "test")
      try await connection.run { try $0.executeScript("CREATE TABLE t (id int)", name: "t") }
      for isThrown in [true, false] {
        try setReadOnly(true, url)
        let error = await #expect(throws: PostgresError.self) {
          try await connection.run { session in
            let result = Result { try session.execute("INSERT INTO t VALUES (1)") }
            if isThrown { _ = try result.get() }
            throw PostgresError(.server, "read-only", sqlState: "25006")
          }
        }
        #expect(error?.isReadOnly == true && error?.isTransient == true && error?.isConnectionLost == false)
        try setReadOnly(false, url)
        try await connection.transaction { session in _ = try session.execute("INSERT INTO t VALUES (1)") }
      }
      let rows = try await connection.run { try $0.execute("SELECT FROM t").count }
      #expect(rows == 2)
    }
  }

  @Test("bodies of concurrent tasks do not interleave")
  func noInterleaving() async throws {
    try await withDatabase { url in
      let connection = try Connection(url, name: "test")
      let inside = Shared(0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<50 {
          group.addTask {
            try await connection.transaction { session in
              #expect(
                inside.withLock {
                  $0 += 1; return $0
                } == 1)
              try session.execute("SELECT 1")
              inside.withLock { $0 -= 1 }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

extension Tag {
  /// Uses the PostgreSQL server of the test run.
  @Tag static var database: Self
}
