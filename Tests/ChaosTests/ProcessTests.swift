import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import ChaosTesting

@Suite(.timeLimit(.minutes(60)))
struct ChaosProcessTests {
  private func start(_ script: String, _ folder: TemporaryFolder) throws -> ChaosProcess {
    try ChaosProcess("shell", path: "/bin/sh", arguments: ["-c", script], log: "\(folder.path)/log")
  }

  @Test("each stop is reported, and then the end")
  func stops() async throws {
    let folder = try TemporaryFolder()
    let process = try start("kill -STOP $$; kill -STOP $$; exit 7", folder)
    for times in 1...2 {
      #expect(await process.isStopped(times: times, within: .seconds(60)))
      #expect(process.ending == nil)
      process.kill(SIGCONT)
    }
    #expect(await process.end(within: .seconds(60)) == .exited(7))
    #expect(await process.isStopped(times: 3, within: .seconds(60)) == false)
  }

  @Test("an end by a signal is reported")
  func signal() async throws {
    let folder = try TemporaryFolder()
    let process = try start("kill -STOP $$", folder)
    #expect(await process.isStopped(within: .seconds(60)))
    process.kill(SIGKILL)
    #expect(await process.end(within: .seconds(60)) == .killed(signal: SIGKILL))
  }

  @Test("waiting ends after a timeout")
  func timeout() async throws {
    let folder = try TemporaryFolder()
    let process = try start("kill -STOP $$", folder)
    #expect(await process.end(within: .milliseconds(1)) == nil)
    #expect(await process.isStopped(times: 2, within: .milliseconds(1)) == false)
  }
}

@Suite("Proxy", .timeLimit(.minutes(60)))
struct ProxyTests {
  private struct Connections {
    let proxy: Proxy
    let direct: Pool
    let indirect: Pool
  }

  /// Runs a test with connections to a database, one pool without and one with a proxy.
  private func withProxy(_ body: (Connections) async throws -> Void) async throws {
    try await withDatabase { url in
      let direct = Pool(url, size: 1)
      let folder = try await direct.run { session in
        try session.execute("SELECT current_setting('unix_socket_directories')").single().get(0, as: String.self)
      }
      let proxy = try Proxy(upstream: "\(folder)/.s.PGSQL.5432")
      let connections = Connections(
        proxy: proxy, direct: direct,
        indirect: Pool(try proxy.url(database: url.database ?? "", name: "chaos-test"), size: 4))
      try await body(connections)
      proxy.stop()
      await direct.close()
      await connections.indirect.close()
    }
  }

  @Test("long texts are forwarded in both directions")
  func forwards() async throws {
    try await withProxy { connections in
      let text = String(repeating: "0123456789abcdef", count: 1 << 18)
      let back = try await connections.indirect.run {
        try $0.execute("SELECT $1::text", .text(text)).single().get(0, as: String.self)
      }
      #expect(back == text)
      #expect(connections.proxy.connections == 1)
    }
  }

  @Test("after a cut, the connection is lost, and the next one is new")
  func cuts() async throws {
    try await withProxy { connections in
      let error = await #expect(throws: PostgresError.self) {
        try await connections.indirect.transaction { session in
          connections.proxy.cut()
          // The loop ends when the connection is lost.
          let deadline = Deadline("the loss of the connection")
          while true {
            try deadline.check()
            try session.execute("SELECT 1")
          }
        }
      }
      #expect(error?.isConnectionLost == true)
      _ = try await connections.indirect.run { try $0.execute("SELECT 1").count }
    }
  }

  @Test("held bytes arrive after the release")
  func holds() async throws {
    try await withProxy { connections in
      _ = try await connections.indirect.run { try $0.execute("CREATE TABLE message (text text)").count }
      connections.proxy.hold()
      async let sent = connections.indirect.run { try $0.execute("INSERT INTO message VALUES ('late')").affected }
      let early = try await connections.direct.run { try $0.execute("SELECT text FROM message").count }
      #expect(early == 0)
      connections.proxy.release()
      #expect(try await sent == 1)
      #expect(try await connections.direct.run { try $0.execute("SELECT text FROM message").count } == 1)
    }
  }
}
