import FoundationEssentials
import Glibc
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import Queue
import Store
import Telemetry
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("The messages that webhooks keep", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WebhookRecordTests {
  @Test("failed and delivered messages are sent again on request, in their order, but no code")
  func replay() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create([.comment, .passwordResetRequested])
      let post = PublicID.now()
      let comments = [try await hook.notify(post), try await hook.notify(post)]
      try await hook.execute("UPDATE webhook_delivery SET attempts = 9")
      hook.reply(.badRequest, [:], "no \u{1B}[31m such thing")
      for _ in 0..<2 {
        try await hook.turn()
        try await hook.execute(
          "UPDATE webhook_delivery SET attempts = 9, next_at = clock_timestamp() WHERE next_at IS NOT NULL")
        try await hook.execute("UPDATE webhook SET next_at = clock_timestamp()")
      }
      try await hook.turn()
      let failed = try await hook.deliveries(id, "?state=failed")
      #expect(failed.count == 2 && failed[0]["error"].text == "status 400: no [31m such thing")
      hook.reply(.ok)
      _ = hook.received()
      #expect(try await hook.send("POST", "/\(id)/replay", "{}").json["replayed"] == .number(2))
      try await hook.turn()
      #expect(hook.received().compactMap(\.comment) == comments)
      let delivered = try #require(try await hook.deliveries(id, "?state=delivered").last?["id"].text)
      #expect(try await hook.send("POST", "/\(id)/deliveries/\(delivered)/replay").status == 202)
      try await hook.turn()
      #expect(hook.received().map(\.id) == [delivered])
      let future = try await hook.send("POST", "/\(id)/replay", #"{"since":"2999-01-01T00:00:00Z"}"#)
      #expect(future.json["replayed"] == .number(0))

      // A code is in one message, and nowhere afterwards.
      hook.reply { Response(.internalServerError, body: .bytes($0.body)) }
      try await hook.notify(nil, .passwordResetRequested, data: Array(#"{"code":"493027"}"#.utf8))
      try await hook.turn()
      #expect(hook.received().first?.json["data"]["code"].text == "493027")
      let pending = try await hook.send("GET", "/\(id)/deliveries").text
      #expect(pending.contains("password_reset_requested") && !pending.contains("493027"))
      hook.reply(.ok)
      try await hook.passTime()
      try await hook.turn()
      #expect(hook.received().count == 1)
      let left: Int = try await hook.value("SELECT count(*) FROM user_event WHERE data::text LIKE '%493027%'")
      #expect(left == 0)
      let code = try #require(try await hook.deliveries(id).first?["id"].text)
      #expect(UserClient.kind(try await hook.send("POST", "/\(id)/deliveries/\(code)/replay")) == "delivery_not_found")
    }
  }

  @Test("a message whose code has expired before it could be sent is not sent without it")
  func expiredCode() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create([.passwordResetRequested])
      try await hook.notify(nil, .passwordResetRequested, data: Array(#"{"code":"493027"}"#.utf8))
      hook.reply(.internalServerError)
      try await hook.turn()
      #expect(hook.received().count == 1)
      try await hook.execute("UPDATE user_event SET data = NULL")
      hook.reply(.ok)
      try await hook.passTime()
      try await hook.turn()
      #expect(hook.received().isEmpty)
      #expect(try await hook.deliveries(id).first?["state"].text == "failed")
    }
  }

  @Test("of a deleted user nothing is sent or kept, what waits behind goes on, and old deliveries go")
  func forgotten() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create([.comment, .postReady])
      let post = PublicID.now()
      try await hook.notify(post)
      try await hook.notify(post, of: "eve", by: "ada")
      let second = try await hook.notify(post, .postReady, of: "eve")
      hook.reply(.badRequest, [:], "bob is unknown")
      try await hook.turn()
      #expect(hook.received().count == 1)
      let job = try await hook.api.pool.transaction { session in
        try Forgetting.begin("ada", request: nil, session, revoking: { _ in [] }, check: {}).job
      }
      let deadline = Deadline("the last batch of a deletion")
      while try await hook.api.pool.transaction({ try Forgetting.forgetBatch(ofJob: job, in: .all, $0) }) {
        try deadline.check()
      }
      #expect(try await hook.deliveries(id).allSatisfy { $0["error"] == .null })
      hook.reply(.ok)
      try await hook.passTime()
      try await hook.turn()
      let left = hook.received()
      #expect(left.map { $0.json["data"]["image"].text ?? $0.comment } == [second])
      try await hook.notify(.now())
      try await hook.turn()
      try await hook.execute("DELETE FROM user_event WHERE position < (SELECT max(position) FROM user_event)")
      for _ in 0..<2 { try await hook.execute(Webhooks.statements["drop_old_deliveries"]) }
      #expect(try await hook.deliveries(id).count == 1)
    }
  }

  @Test("a deleted webhook is gone at once, and its messages in pages, during which others get theirs")
  func deletion() async throws {
    try await WebhookFixture.with { hook in
      let (id, other) = (try await hook.create(), try await hook.create())
      try await hook.notify(.now())
      _ = try await Events.dispatch(hook.api.pool)
      try await hook.execute(
        """
        INSERT INTO webhook_delivery (webhook_id, position, order_key, state)
        SELECT id, -n, n, 'delivered' FROM webhook, generate_series(1, 2499) AS n WHERE public_id = '\(id)'
        """)
      #expect(try await hook.send("DELETE", "/\(id)").status == 204)
      #expect(UserClient.kind(try await hook.send("GET", "/\(id)")) == "webhook_not_found")
      #expect(try await hook.send("GET").json["items"].elements.compactMap { $0["id"].text } == [other])
      let isBlank: Bool = try await hook.value(
        """
        SELECT url = '' AND headers = '{}' AND encode(secret, 'hex') ~ '^0+$' AND former_secret IS NULL FROM webhook
        WHERE deleted_at IS NOT NULL
        """)
      #expect(isBlank)
      func count(_ rows: String) async throws -> Int { try await hook.value("SELECT count(*) FROM \(rows)") }
      let left = "webhook_delivery JOIN webhook ON id = webhook_id WHERE deleted_at IS NOT NULL"
      #expect(try await count(left) == 2500)
      // A page that is being deleted.
      let session = try Session.connect(hook.api.url, timeout: .seconds(30))
      try session.executeScript("BEGIN", name: "BEGIN")
      #expect(try session.execute(Webhooks.statements["drop_old_deliveries"]).affected == 1000)
      try await hook.notify(.now())
      // The deleted one had a job, too.
      for _ in 0..<2 { try await hook.turn() }
      #expect(hook.received().count == 2)
      try session.executeScript("COMMIT", name: "COMMIT")
      for rest in [500, 0] {
        try await hook.execute(Webhooks.statements["drop_old_deliveries"])
        #expect(try await count(left) == rest)
      }
      #expect(try await count("webhook") == 2)
      try await hook.execute(Webhooks.statements["drop_old_deliveries"])
      #expect(try await count("webhook") == 1)
      #expect(try await hook.deliveries(other).count == 2)
    }
  }
}
