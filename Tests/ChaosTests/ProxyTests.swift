import Platform
import Postgres
import PostgresTesting
import Testing

@testable import ChaosTesting

@Suite("Proxy", .timeLimit(.minutes(2)))
struct ProxyTests {
  private struct Way {
    let proxy: Proxy
    let direct: Pool
    let indirect: Pool
  }

  /// Runs a test with a database that is reached past the proxy and through it.
  private func withProxy(_ body: (Way) async throws -> Void) async throws {
    try await withDatabase { url in
      let direct = Pool(url, size: 1)
      let folder = try await direct.run { session in
        try session.execute("SELECT current_setting('unix_socket_directories')").single().get(0, as: String.self)
      }
      let proxy = try Proxy(upstream: "\(folder)/.s.PGSQL.5432")
      let way = Way(
        proxy: proxy, direct: direct,
        indirect: Pool(try proxy.url(database: url.database ?? "", name: "chaos-test"), size: 4))
      try await body(way)
      proxy.stop()
      await direct.close()
      await way.indirect.close()
    }
  }

  @Test("what is sent goes through both ways, however long")
  func forwards() async throws {
    try await withProxy { way in
      let text = String(repeating: "0123456789abcdef", count: 1 << 18)
      let back = try await way.indirect.run {
        try $0.execute("SELECT $1::text", .text(text)).single().get(0, as: String.self)
      }
      #expect(back == text)
      #expect(way.proxy.connections == 1)
    }
  }

  @Test("a cut connection is lost, and the next one is a new one")
  func cuts() async throws {
    try await withProxy { way in
      let error = await #expect(throws: PostgresError.self) {
        try await way.indirect.transaction { session in
          way.proxy.cut()
          // Until the cut has come through.
          while true { try session.execute("SELECT 1") }
        }
      }
      #expect(error?.isConnectionLost == true)
      _ = try await way.indirect.run { try $0.execute("SELECT 1").count }
    }
  }

  @Test("what is held does not arrive, and arrives once it is let go")
  func holds() async throws {
    try await withProxy { way in
      _ = try await way.indirect.run { try $0.execute("CREATE TABLE said (word text)").count }
      way.proxy.hold()
      async let sent = way.indirect.run { try $0.execute("INSERT INTO said VALUES ('late')").affected }
      let early = try await way.direct.run { try $0.execute("SELECT word FROM said").count }
      #expect(early == 0)
      way.proxy.release()
      #expect(try await sent == 1)
      #expect(try await way.direct.run { try $0.execute("SELECT word FROM said").count } == 1)
    }
  }
}
