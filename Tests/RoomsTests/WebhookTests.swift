import FoundationEssentials
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import Queue
import Store
import Testing
import WaitTesting

@testable import Rooms

@Suite("Webhooks", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WebhookTests {
  @Test("messages about one subject come in order, also after failures, and others do not wait for them")
  func order() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create()
      let posts = (0..<3).map { _ in PublicID.now() }
      var sent: [String: [String]] = [:]
      for index in 0..<9 {
        let post = posts[index % 3]
        sent["\(post)", default: []].append(try await hook.notify(post))
      }
      let failing = "\(posts[0])"
      hook.reply { Response($0.post == failing ? .internalServerError : .noContent) }
      try await hook.turn()
      let first = hook.received()
      #expect(first.filter { $0.post == failing }.compactMap(\.comment) == [sent[failing]?.first].compactMap(\.self))
      for post in posts.dropFirst().map(\.description) {
        #expect(first.filter { $0.post == post }.compactMap(\.comment) == sent[post])
      }
      #expect(first.allSatisfy { $0.json["type"].text == "comment" && $0.json["data"]["receiver"].text == "ada" })
      let again = try await hook.notify(posts[0])
      hook.reply(.ok)
      try await hook.turn()
      #expect(hook.received().isEmpty)
      try await hook.passTime()
      try await hook.turn()
      let second = hook.received()
      #expect(second.compactMap(\.comment) == (sent[failing] ?? []) + [again])
      #expect(second.first?.id == first.first { $0.post == failing }?.id)
      #expect(try await hook.deliveries(id).allSatisfy { $0["state"].text == "delivered" })
      // Of other kinds it gets nothing.
      try await hook.notify(posts[0], .like)
      try await hook.turn()
      #expect(hook.received().isEmpty)
    }
  }

  @Test("the pauses are those of the rules, and longer if the endpoint asks for it")
  func schedule() {
    let failed = WebhookOutcome.failed(status: 500, error: "status 500", retryAfter: nil)
    let pauses = (0..<10).map { failed.record(attempts: $0, jitter: 0).pause }
    #expect(pauses == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, nil])
    #expect(failed.record(attempts: 9).state == .failed && failed.record(attempts: 8).state == .pending)
    let busy = WebhookOutcome.failed(status: 503, error: "status 503", retryAfter: 600)
    #expect(busy.record(attempts: 0).pause == 600 && (300...660).contains(failed.record(attempts: 1).pause ?? 0))
    func turn(_ outcomes: [WebhookOutcome], _ failures: Int = 0, _ seconds: Double = 0) -> WebhookTurn {
      WebhookTurn(outcomes, failures: failures, failingSeconds: seconds)
    }
    #expect((0..<5).map { turn([failed], $0).pause } == [5, 30, 300, 300, 300])
    // What one message is asked to wait holds back the others for five minutes at most.
    #expect(turn([busy]).pause == 300)
    #expect(turn([busy, .delivered(status: 200)]).pause == 0 && turn([busy, .delivered(status: 200)]).failures == 0)
    #expect(turn([failed], .max).failures > 0 && turn([.withdrawn], 3).failures == 3)
    #expect(turn([failed], 9, 432_000).cause == .failing && turn([failed], 9, 431_999).cause == nil)
    #expect(turn([failed, .delivered(status: 200)], 9, 432_000).cause == nil && turn([.gone]).cause == .gone)
  }

  @Test("an endpoint that fails is asked by one message, whatever waits for it, and gets the rest once it works")
  func probe() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create()
      for _ in 0..<60 { try await hook.notify(.now()) }
      hook.reply(.serviceUnavailable, ["Retry-After": "3600"])
      try await hook.turn()
      #expect(hook.received().count == Webhooks.pageSize)
      let isPaused: Bool = try await hook.value(
        """
        SELECT next_at - clock_timestamp() BETWEEN '200 seconds' AND '300 seconds' AND failing_since IS NOT NULL
        FROM webhook
        """)
      #expect(isPaused)
      try await hook.turn()
      #expect(hook.received().isEmpty)
      for _ in 0..<3 {
        try await hook.passTime()
        try await hook.turn()
        #expect(hook.received().count == 1)
      }
      hook.reply(.ok)
      try await hook.passTime()
      try await hook.turn()
      #expect(hook.received().count == 60)
      #expect(try await hook.send("GET", "/\(id)").json["failing_since"] == .null)
    }
  }

  @Test(
    "410 and five days without success disable an endpoint, with an event; it is enabled again",
    arguments: [true, false])
  func disabled(isGone: Bool) async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create()
      let post = PublicID.now()
      for _ in 0..<2 { try await hook.notify(post) }
      hook.reply(isGone ? .gone : .internalServerError)
      if !isGone {
        try await hook.execute(
          "UPDATE webhook SET failures = 3, failing_since = clock_timestamp() - interval '432001 seconds'")
      }
      try await hook.turn()
      try await hook.passTime()
      try await hook.turn()
      #expect(hook.received().count == 1)
      let shown = try await hook.send("GET", "/\(id)").json
      #expect(shown["state"].text == "disabled" && shown["cause"].text == (isGone ? "gone" : "failing"))
      let event: String = try await hook.value(
        "SELECT subject::text FROM user_event WHERE kind = 'webhook_disabled' AND user_id LIKE 'service  %'")
      #expect(event == id)
      hook.reply(.ok)
      try await hook.notify(post)
      try await hook.turn()
      #expect(hook.received().isEmpty)
      #expect(try await hook.send("PATCH", "/\(id)", #"{"state":"enabled"}"#).json["state"].text == "enabled")
      try await hook.turn()
      // The one that 410 ended is not sent again, nor what happened meanwhile.
      #expect(hook.received().count == (isGone ? 1 : 2))
    }
  }

  @Test("a private address is refused after the resolution of its name, and a redirect is not followed")
  func addresses() async throws {
    try await WebhookFixture.with(permits: "") { hook in
      let insert: Statement =
        "INSERT INTO webhook (public_id, url, kinds, secret) VALUES (gen_random_uuid(), \("'https://localhost:\(hook.port)/hook'"), '{comment}', sha256('x'))"
      try await hook.execute(insert)
      try await hook.notify(.now())
      try await hook.turn()
      #expect(hook.received().isEmpty)
      let error: String = try await hook.value("SELECT error FROM webhook_delivery")
      #expect(error.contains("is not public"), "\(error)")
    }
    try await WebhookFixture.with { hook in
      let id = try await hook.create()
      try await hook.notify(.now())
      hook.reply(.temporaryRedirect, ["Location": "/other"])
      try await hook.turn()
      #expect(hook.received().count == 1)
      let delivery = try #require(try await hook.deliveries(id).first)
      #expect(delivery["state"].text == "pending" && delivery["status"] == .number(307))
    }
  }

  @Test("while a secret is replaced, messages are signed with both; no secret is shown twice, and the log has no path")
  func secrets() async throws {
    try await WebhookFixture.with { hook in
      let url = "http://127.0.0.1:\(hook.port)/hook?token=hidden"
      let created = try await hook.send("POST", "", #"{"url":"\#(url)","kinds":["comment"]}"#)
      let id = try #require(created.json["id"].text)
      let first = try #require(created.json["secret"].text)
      let second = try #require(try await hook.send("POST", "/\(id)/secret").json["secret"].text)
      for secrets in [[second, first], [second]] {
        try await hook.notify(.now())
        try await hook.turn()
        let message = try #require(hook.received().first)
        let expected = try secrets.map { secret in
          let bytes = try #require(Data(base64Encoded: String(secret.dropFirst(6))))
          #expect(secret.hasPrefix("whsec_") && bytes.count == 32)
          return WebhookSecret(bytes: Array(bytes)).signature(
            of: message.id, try #require(Int(message.timestamp)), message.body)
        }
        #expect(message.signature == expected.joined(separator: " "))
        try await hook.execute("UPDATE webhook SET former_until = clock_timestamp()")
      }
      hook.reply(.internalServerError)
      try await hook.notify(.now())
      try await hook.turn()
      let log = hook.log.withLock { $0.joined() }
      #expect(log.contains("http://127.0.0.1:\(hook.port)") && !log.contains("hidden"))
      for path in ["", "/\(id)", "/\(id)/deliveries"] {
        let text = try await hook.send("GET", path).text
        #expect(text.contains(#""created_at""#) && !text.contains("secret") && !text.contains(second), "\(path)")
      }
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

  @Test("a worker that loses its job in the middle records nothing: another one sends the messages again, in order")
  func lostWorker() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create()
      let post = PublicID.now()
      let comments = [try await hook.notify(post), try await hook.notify(post)]
      _ = try await Events.dispatch(hook.api.pool)
      let job = try #require(try await hook.claim())
      hook.reply { _ in
        // Its worker is lost while the endpoint handles the message.
        try await hook.execute("UPDATE job SET state = 'a', token = NULL, worker_id = NULL WHERE queue = 'webhooks'")
        return Response(.ok)
      }
      await #expect(throws: LeaseLost.self) {
        _ = try await hook.courier.deliver(job, isStopped: { false }, hook.api.pool)
      }
      let lost = hook.received()
      hook.reply(.ok)
      try await hook.turn()
      let received = hook.received()
      #expect(lost.compactMap(\.comment) == Array(comments.prefix(1)) && received.compactMap(\.comment) == comments)
      #expect(received.first?.id == lost.first?.id)
      #expect(try await hook.deliveries(id).map { $0["attempts"] } == [.number(1), .number(1)])
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

  @Test("operators create, list, change and delete webhooks; what is wrong with one is named")
  func operating() async throws {
    try await WebhookFixture.with(permits: "mailer.internal,10.0.0.0/8") { hook in
      for url in [
        "ftp://a.example", "https://", "https://a.example/#x", "https://user:pass@a.example/", "http://a.example/",
        "https://127.0.0.1/", "https://[::1]/", "http://127.0.0.1/", "a b",
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
      let outdated = try await UserClient.send(
        "DELETE", "/v1/webhooks/\(ids[0])", WebhookFixture.key + [("If-Match", tag)], nil, hook.api)
      #expect(outdated.status == 412)
      #expect(try await hook.send("DELETE", "/\(ids[0])").status == 204)
      for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/secret"), ("GET", "/deliveries")] {
        #expect(UserClient.kind(try await hook.send(method, "/\(ids[0])\(path)")) == "webhook_not_found")
      }
    }
  }
}
