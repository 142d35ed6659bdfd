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

@testable import Kit
@testable import Rooms

@Suite("How operators use webhooks", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WebhookOperatingTests {
  @Test("operators create, list, change and delete webhooks; what is wrong with one is named")
  func operating() async throws {
    try await WebhookFixture.with(permits: "mailer.internal,10.0.0.0/8") { hook in
      for url in [
        "ftp://a.example", "https://", "https://a.example/#x", "https://user:pass@a.example/", "http://a.example/",
        "https://127.0.0.1/", "https://[::1]/", "http://127.0.0.1/", "a b", "https://2130706433/",
        "https://localhost./",
      ] {
        let refused = try await hook.send("POST", "", #"{"url":"\#(url)","kinds":["comment"]}"#)
        #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == "url", "\(url)")
      }
      for kinds in ["[]", #"["nothing"]"#, #"["like","like"]"#, "7"] {
        #expect(try await hook.send("POST", "", #"{"url":"https://a.example/","kinds":\#(kinds)}"#).status == 400)
      }
      var ids: [String] = []
      for url in ["https://a.example?x=1", "http://10.1.2.3:8080/hook", "http://Mailer.internal/hook"] {
        let created = try await hook.send("POST", "", #"{"url":"\#(url)","kinds":["comment","like"]}"#)
        #expect(created.status == 201 && created.json["url"].text == url)
        ids.append(try #require(created.json["id"].text))
      }
      let page = try await hook.send("GET", "?limit=2").json
      #expect(page["items"].elements.compactMap { $0["id"].text } == [ids[2], ids[1]] && page["next"].text != nil)
      let tag = try #require(try await hook.send("GET", "/\(ids[0])").headers["etag"])
      let changed = try await hook.send("PATCH", "/\(ids[0])", #"{"kinds":["like"],"state":"disabled"}"#)
      #expect(changed.json["cause"].text == "operator" && changed.json["kinds"].elements == [.string("like")])
      #expect(try await hook.send("PATCH", "/\(ids[0])", #"{"url":"https://0x7f.1/"}"#).status == 400)
      let outdated = try await UserClient.send(
        "DELETE", "/v1/webhooks/\(ids[0])", WebhookFixture.key + [("If-Match", tag)], nil, hook.api)
      #expect(outdated.status == 412)
      #expect(try await hook.send("DELETE", "/\(ids[0])").status == 204)
      for (method, path) in [
        ("GET", ""), ("DELETE", ""), ("POST", "/secret"), ("GET", "/deliveries"), ("POST", "/test"),
      ] {
        #expect(UserClient.kind(try await hook.send(method, "/\(ids[0])\(path)")) == "webhook_not_found")
      }
    }
  }

  @Test("a test message goes to one webhook, before what waits for it, is signed and listed, and is sent once")
  func testMessage() async throws {
    try await WebhookFixture.with { hook in
      let created = try await hook.send(
        "POST", "", #"{"url":"http://127.0.0.1:\#(hook.port)/hook","kinds":["comment"]}"#)
      let (id, other) = (try #require(created.json["id"].text), try await hook.create([.like]))
      let asked = try await hook.send("POST", "/\(id)/test")
      let first = try #require(asked.json["delivery"].text, "\(asked.text)")
      #expect(asked.status == 202)
      // One waits at a time.
      #expect(try await hook.send("POST", "/\(id)/test").json["delivery"].text == first)
      hook.reply(.internalServerError)
      try await hook.turn()
      let received = hook.received()
      let message = try #require(received.first)
      #expect(received.count == 1 && message.id == first && message.json["type"].text == "webhook_test")
      #expect(message.json["data"]["webhook"].text == id && message.json["data"]["receiver"] == .null)
      let secret = try #require(created.json["secret"].text.flatMap { Data(base64Encoded: String($0.dropFirst(6))) })
      let signature = WebhookSecret(bytes: Array(secret)).signature(
        of: first, try #require(Int(message.timestamp)), message.body)
      #expect(message.signature == signature)
      let listed = try #require(try await hook.deliveries(id, "?state=failed").first)
      #expect(listed["id"].text == first && listed["kind"].text == "webhook_test" && listed["attempts"] == .number(1))
      #expect(try await hook.send("POST", "/\(id)/replay", "{}").json["replayed"] == .number(0))
      // Within five seconds it is the same one.
      #expect(try await hook.send("POST", "/\(id)/test").json["delivery"].text == first)
      try await hook.execute("UPDATE user_event SET created_at = created_at - interval '10 seconds'")
      #expect(try await hook.value("SELECT failures FROM webhook ORDER BY id LIMIT 1") == 0)
      // An endpoint that fails gets it at once, and before others.
      try await hook.execute("UPDATE webhook SET failures = 1")
      let comment = try await hook.notify(.now())
      _ = try await Events.dispatch(hook.api.pool)
      let second = try #require(try await hook.send("POST", "/\(id)/test").json["delivery"].text)
      hook.reply(.ok)
      try await hook.turn()
      let later = hook.received()
      #expect(second != first && later.first?.id == second && later.last?.comment == comment && later.count == 2)
      // No other one has it, nor does a stream.
      #expect(try await hook.deliveries(other).isEmpty)
      #expect(EventKind(Webhooks.testKind) == nil)
      _ = try await hook.send("PATCH", "/\(id)", #"{"state":"disabled"}"#)
      let refused = try await hook.send("POST", "/\(id)/test")
      #expect(refused.status == 409 && UserClient.kind(refused) == "webhook_disabled")
      #expect(try await hook.deliveries(id).count == 3)
    }
  }

  @Test("gauges say for how long the oldest message of an endpoint is due, of the twenty worst, and how many fail")
  func gauges() async throws {
    try await WebhookFixture.with { hook in
      try await hook.execute(
        """
        INSERT INTO webhook (public_id, url, kinds, secret, failures, disabled_at, disabled_cause)
        SELECT gen_random_uuid(), 'https://app.example.org/', '{like}', sha256('x'), CASE WHEN n <= 3 THEN 1 ELSE 0 END,
          CASE WHEN n = 3 THEN clock_timestamp() END, CASE WHEN n = 3 THEN 'operator' END
        FROM generate_series(1, 25) AS n ORDER BY n
        """)
      try await hook.execute(
        """
        INSERT INTO webhook_delivery (webhook_id, position, order_key, next_at)
        SELECT webhook.id, n, n, clock_timestamp() - make_interval(hours => (webhook.id * n)::int)
        FROM webhook, generate_series(1, 2) AS n WHERE webhook.id > 1
        """)
      let gauges = try await hook.api.pool.run { try OperationGauges.measure($0) }
      #expect(gauges.filter { $0.name == "take5_webhooks_failing" }.map(\.value) == [2])
      let ages = gauges.filter { $0.name == "take5_webhook_oldest_age_seconds" }
      // The first of them has nothing to send, and the third is disabled.
      #expect(ages.count == 20)
      let hours = ages.map { Int($0.value / 3600) }
      #expect(hours == (6...25).reversed().map { 2 * $0 }, "\(hours)")
      let oldest: String = try await hook.value("SELECT public_id::text FROM webhook ORDER BY id DESC LIMIT 1")
      #expect(ages.first?.labels == ["webhook": oldest])
    }
  }
}
