import Glibc
import Postgres
import PostgresTesting
import Testing

@Suite("Listener", .tags(.database))
struct ListenerTests {
  @Test("a listener receives the notifications of its channel, and reports a lost connection and the reconnection")
  func reconnects() async throws {
    try await withDatabase { url in
      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(url, channels: ["it's \"odd\""]) { continuation.yield($0) })
      try listener.start()
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)

      let session = try Session.connect(url, timeout: .seconds(5))
      let notify: Statement = "SELECT pg_notify($1, $2)"
      try session.execute(notify, .text("another"), .text("not for us"))
      try session.execute(notify, .text("it's \"odd\""), .text("one"))
      #expect(await received.next() == .notification(Notification(channel: "it's \"odd\"", payload: "one")))

      try session.execute(
        """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      guard case .disconnected = await received.next() else {
        Issue.record("the loss was not reported")
        return
      }
      #expect(await received.next() == .connected)
      try session.execute(notify, .text("it's \"odd\""), .text("two"))
      #expect(await received.next() == .notification(Notification(channel: "it's \"odd\"", payload: "two")))

      listener.stop()
      continuation.finish()
      #expect(await received.next() == nil)
    }
  }

  @Test("a session whose server falls silent is replaced")
  func silence() async throws {
    try await withDatabase { url in
      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(
        try Listener(url, channels: ["a"], interval: .milliseconds(100), limit: .seconds(3)) { continuation.yield($0) })
      try listener.start()
      defer { listener.stop() }
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)
      let session = try Session.connect(url, timeout: .seconds(5))
      let process: Int = try session.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
      ).single().get(0)
      kill(Int32(process), SIGSTOP)
      defer { kill(Int32(process), SIGCONT) }
      guard case .disconnected = await received.next() else {
        Issue.record("the silence was not reported")
        return
      }
      #expect(await received.next() == .connected)
      try session.execute("NOTIFY a, 'one'")
      #expect(await received.next() == .notification(Notification(channel: "a", payload: "one")))
    }
  }

  @Test("notifications before and behind the answers of the server arrive, each once")
  func answers() async throws {
    try await withDatabase { url in
      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(url, channels: ["a"], interval: .zero) { continuation.yield($0) })
      try listener.start()
      defer { listener.stop() }
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)
      let session = try Session.connect(url, timeout: .seconds(5))
      for number in 0..<500 { try session.execute("SELECT pg_notify('a', $1)", .text("\(number)")) }
      for number in 0..<500 {
        #expect(await received.next() == .notification(Notification(channel: "a", payload: "\(number)")))
      }
    }
  }
}
