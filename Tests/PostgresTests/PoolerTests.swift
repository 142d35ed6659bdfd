import Postgres
import PostgresTesting
import Testing

@Suite("Behind a pooler", .tags(.database))
struct PoolerTests {
  private let process: Statement = "SELECT pg_backend_pid()"

  /// Several sessions through two connections, both of which are open.
  private func withSessions(_ body: (DatabaseURL, [Session]) throws -> Void) async throws {
    try await withDatabase { url in
      try await withPooler(before: url, connections: 2) { url in
        let sessions = try (0..<4).map { _ in try Session.connect(url, timeout: .seconds(5)) }
        try sessions[0].transaction { first in
          try first.execute("SELECT")
          try sessions[1].transaction { try $0.execute("SELECT") }
        }
        try body(url, sessions)
      }
    }
  }

  @Test("transactions take turns on fewer connections, and each stays on its own to its end")
  func transactions() async throws {
    try await withSessions { _, sessions in
      var met: Set<Int> = []
      for session in sessions + sessions {
        let seen = try session.transaction { session in
          try (0..<3).map { _ in try session.execute(process).single().get(0, as: Int.self) }
        }
        #expect(Set(seen).count == 1)
        met.formUnion(seen)
      }
      #expect(met.count == 2)
    }
  }

  @Test("named statements run, whichever connection they meet")
  func namedStatements() async throws {
    try await withSessions { _, sessions in
      for (number, session) in (sessions + sessions + sessions).enumerated() {
        let statement = Statement(name: "number", text: "SELECT $1::int AS number")
        let answer: Int = try session.execute(statement, .integer(number)).single().get("number")
        #expect(answer == number)
      }
    }
  }

  @Test("where nobody said that there is one, statements fail with what to say, and none runs in another's place")
  func forgotten() async throws {
    try await withSessions { url, _ in
      var careless = url
      careless.pooling = .session
      var failures: [PostgresError] = []
      let sessions = try (0..<4).map { _ in try Session.connect(careless, timeout: .seconds(5)) }
      for _ in 0..<8 {
        for (number, session) in sessions.enumerated() {
          let statement = Statement(name: "number", text: "SELECT \(number) AS number")
          do throws(PostgresError) {
            let answer: Int = try session.execute(statement).single().get("number")
            #expect(answer == number)
          } catch {
            failures.append(error)
          }
        }
      }
      #expect(!failures.isEmpty)
      for failure in failures { #expect(failure.remedy?.contains("--pooling transaction") == true, "\(failure)") }
    }
  }

  @Test("a connection tells whether it leads through one")
  func detection() async throws {
    try await withDatabase { url in
      #expect(try !Session.connect(url, timeout: .seconds(5)).isPooled())
      try await withPooler(before: url) { url in
        let isPooled = try Session.connect(url, timeout: .seconds(5)).isPooled()
        #expect(isPooled)
      }
    }
  }

  @Test("nothing is heard through one, and everything past it")
  func listening() async throws {
    try await withDatabase { direct in
      try await withPooler(before: direct) { pooled in
        #expect(try Listener(pooled, channels: ["news"], report: { _ in }) == nil)
        var url = pooled
        url.listen(past: direct)
        let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
        let listener = try #require(try Listener(url, channels: ["news"]) { continuation.yield($0) })
        try listener.start()
        var heard = reports.makeAsyncIterator()
        #expect(await heard.next() == .connected)
        let said = Statement(name: "said", text: "SELECT pg_notify('news', 'one')")
        try Session.connect(url, timeout: .seconds(5)).execute(said)
        #expect(await heard.next() == .notification(Notification(channel: "news", payload: "one")))
        listener.stop()
      }
    }
  }

  @Test("a setting that it cannot keep apart is refused at once")
  func startupParameter() async throws {
    try await withDatabase { url in
      try await withPooler(before: url) { pooled in
        var url = try DatabaseURL(pooled.connectionString + " options='-c statement_timeout=1s'")
        url.pooling = .transaction
        let error = try #require(throws: PostgresError.self) { try Session.connect(url, timeout: .seconds(3600)) }
        #expect(error.message.contains("unsupported startup parameter"), "\(error)")
      }
    }
  }
}
