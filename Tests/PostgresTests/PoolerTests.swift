import Postgres
import PostgresTesting
import Testing

@Suite("Behind a pooler", .tags(.database))
struct PoolerTests {
  private let process: Statement = "SELECT pg_backend_pid()"

  /// Runs a test with four sessions that share two server connections.
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

  @Test("sessions share server connections, and a transaction stays on one")
  func transactions() async throws {
    try await withSessions { _, sessions in
      var processes: Set<Int> = []
      for session in sessions + sessions {
        let seen = try session.transaction { session in
          try (0..<3).map { _ in try session.execute(process).single().get(0, as: Int.self) }
        }
        #expect(Set(seen).count == 1)
        processes.formUnion(seen)
      }
      #expect(processes.count == 2)
    }
  }

  @Test("named statements run on every server connection")
  func namedStatements() async throws {
    try await withSessions { _, sessions in
      for (number, session) in (sessions + sessions + sessions).enumerated() {
        let statement = Statement(name: "number", text: "SELECT $1::int AS number")
        let result: Int = try session.execute(statement, .integer(number)).single().get("number")
        #expect(result == number)
      }
    }
  }

  @Test("without --pooling transaction statements may fail with a remedy, but none runs as another statement")
  func forgotten() async throws {
    try await withSessions { url, _ in
      var misconfigured = url
      misconfigured.pooling = .session
      var failures: [PostgresError] = []
      let sessions = try (0..<4).map { _ in try Session.connect(misconfigured, timeout: .seconds(5)) }
      for _ in 0..<8 {
        for (number, session) in sessions.enumerated() {
          let statement = Statement(name: "number", text: "SELECT \(number) AS number")
          do throws(PostgresError) {
            let result: Int = try session.execute(statement).single().get("number")
            #expect(result == number)
          } catch {
            failures.append(error)
          }
        }
      }
      #expect(!failures.isEmpty)
      for failure in failures { #expect(failure.remedy?.contains("--pooling transaction") == true, "\(failure)") }
    }
  }

  @Test("a session detects whether it is connected to a pooler")
  func detection() async throws {
    try await withDatabase { url in
      #expect(try !Session.connect(url, timeout: .seconds(5)).isPooled())
      try await withPooler(before: url) { url in
        let isPooled = try Session.connect(url, timeout: .seconds(5)).isPooled()
        #expect(isPooled)
      }
    }
  }

  @Test("a listener bypasses the pooler, and there is none without a direct address")
  func listening() async throws {
    try await withDatabase { direct in
      try await withPooler(before: direct) { pooled in
        #expect(try Listener(pooled, channels: ["news"], report: { _ in }) == nil)
        var url = pooled
        url.setListenerURL(direct)
        let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
        let listener = try #require(try Listener(url, channels: ["news"]) { continuation.yield($0) })
        try listener.start()
        var received = reports.makeAsyncIterator()
        #expect(await received.next() == .connected)
        let notify = Statement(name: "notify", text: "SELECT pg_notify('news', 'one')")
        try Session.connect(url, timeout: .seconds(5)).execute(notify)
        #expect(await received.next() == .notification(Notification(channel: "news", payload: "one")))
        listener.stop()
      }
    }
  }

  @Test("a startup parameter that the pooler does not support is refused at once")
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
