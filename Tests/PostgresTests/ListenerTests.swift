import Postgres
import PostgresTesting
import Testing

@Suite("Listener", .tags(.database))
struct ListenerTests {
  @Test("It hears its channel, and says when it comes back from a lost connection")
  func hearsAndReturns() async throws {
    try await withDatabase { url in
      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(url, channels: ["it's \"odd\""]) { continuation.yield($0) })
      try listener.start()
      var heard = reports.makeAsyncIterator()
      #expect(await heard.next() == .connected)

      let session = try Session.connect(url, timeout: .seconds(5))
      let notify: Statement = "SELECT pg_notify($1, $2)"
      try session.execute(notify, .text("another"), .text("not for us"))
      try session.execute(notify, .text("it's \"odd\""), .text("one"))
      #expect(await heard.next() == .notification(Notification(channel: "it's \"odd\"", payload: "one")))

      try session.execute(
        """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      guard case .disconnected = await heard.next() else {
        Issue.record("the loss was not reported")
        return
      }
      #expect(await heard.next() == .connected)
      try session.execute(notify, .text("it's \"odd\""), .text("two"))
      #expect(await heard.next() == .notification(Notification(channel: "it's \"odd\"", payload: "two")))

      listener.stop()
      continuation.finish()
      #expect(await heard.next() == nil)
    }
  }
}
