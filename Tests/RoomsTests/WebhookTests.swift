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
      #expect(error == "the address is not permitted")
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
        _ = try await hook.courier().deliver(job, isStopped: { false }, hook.api.pool)
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

  @Test(
    "a host that is not public is refused in every spelling",
    arguments: [
      "127.0.0.1", "127.0.0.1.", "2130706433", "0177.0.0.1", "017700000001", "0x7f.1", "0x7f000001", "127.1", "0",
      "10.1", "169.254.169.254", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1%25lo]", "[fe80::1%lo]", "[127.1]", "localhost", "LocalHost.",
      "a.localhost", "a.localhost.", "[localhost]", "%6cocalhost", "127%2e0.0.1", "127.0.0.1%00.example.org",
      "\u{FF11}\u{FF12}\u{FF17}.0.0.1", "127\u{3002}0.0.1", "\u{24DB}ocalhost", "b\u{FC}cher.example", "4294967296",
      "1.2.3.256", "127.0.0.1.5", "0x7f.0x", "a..example.org", ".example.org", "example.org..", "a,b.example.org",
      "app.example.org:80@127.0.0.1", "a\\127.0.0.1",
    ])
  func innerHosts(host: String) {
    #expect(WebhookPermits().problem(with: "https://\(host)/hook") != nil)
    #expect(WebhookPermits().problem(with: "https://\(host):8443?x=1") != nil)
  }

  @Test("names and public addresses are permitted, and what the operator names in every spelling")
  func permittedHosts() throws {
    for host in [
      "app.example.org", "APP.example.org.", "xn--bcher-kva.example", "_hook.example.org", "1password.com", "8.8.8.8",
      "134744072", "[2606:4700::1111]", "localhost.example.org",
    ] {
      #expect(WebhookPermits().problem(with: "https://\(host):8443/hook") == nil, "\(host)")
      #expect(WebhookPermits().problem(with: "http://\(host)/hook") != nil, "\(host)")
    }
    let permits = try #require(WebhookPermits("localhost,127.0.0.0/8"))
    for host in ["localhost", "LOCALHOST.", "127.0.0.1", "2130706433", "127.1."] {
      #expect(permits.problem(with: "http://\(host)/hook") == nil, "\(host)")
    }
    #expect(permits.problem(with: "http://10.1/hook") != nil && permits.problem(with: "http://a.localhost/") != nil)
    let inner = try #require(IPAddress("10.0.0.1"))
    #expect(!permits.admits(inner, of: "app.example.org") && permits.admits(inner, of: "LocalHost."))
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

  @Test("header fields of the operator's are sent, and their values are nowhere else; those of the service are refused")
  func headers() async throws {
    try await WebhookFixture.with { hook in
      func body(_ headers: String, path: String = "/hook", port: UInt16? = nil) -> String {
        #"{"url":"http://127.0.0.1:\#(port ?? hook.port)\#(path)","kinds":["comment"],"headers":\#(headers)}"#
      }
      let many = (0...10).map { "\"x-\($0)\":\"1\"" }.joined(separator: ",")
      let long = String(repeating: "x", count: 4096)
      for headers in [
        "7", "[]", #"{"x":7}"#, #"{"x":null}"#, #"{"":"1"}"#, #"{"a b":"1"}"#, #"{"a:b":"1"}"#, #"{"é":"1"}"#,
        #"{"x":""}"#, #"{"x":" 1"}"#, #"{"x":"1 "}"#, #"{"x":"1\r\nHost: a"}"#, #"{"x":"é"}"#, #"{"x":"***"}"#,
        #"{"X-A":"1","x-a":"2"}"#, "{\(many)}", #"{"x":"\#(long)","y":"\#(long)"}"#,
      ] {
        let refused = try await hook.send("POST", "", body(headers))
        #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == "headers", "\(headers)")
      }
      for name in [
        "Host", "content-length", "Content-Type", "Transfer-Encoding", "connection", "TE", "Trailer", "upgrade",
        "Expect", "User-Agent", "Webhook-Id", "webhook-x", "Proxy-Authorization", "Keep-Alive",
      ] {
        #expect(try await hook.send("POST", "", body(#"{"\#(name)":"1"}"#)).status == 400, "\(name)")
      }
      let created = try await hook.send("POST", "", body(#"{"Authorization":"Bearer hidden","X_Key":"also hidden"}"#))
      let id = try #require(created.json["id"].text)
      #expect(created.json["headers"] == .object(["Authorization": .string("***"), "X_Key": .string("***")]))
      hook.reply(.internalServerError)
      try await hook.notify(.now())
      try await hook.turn()
      let message = try #require(hook.received().first)
      #expect(message.headers["authorization"] == "Bearer hidden" && message.headers["x_key"] == "also hidden")
      #expect(message.headers["content-type"] == "application/json")
      for path in ["", "/\(id)", "/\(id)/deliveries"] {
        let text = try await hook.send("GET", path).text
        #expect(text.contains(#""created_at""#) && !text.contains("hidden"), "\(path)")
      }
      let log = hook.log.withLock { $0.joined() }
      #expect(log.contains("a webhook fails") && !log.contains("hidden") && !created.text.contains("hidden"))
      // They stay with the server, and are not sent to another one.
      for (change, names) in [
        (#"{"kinds":["like"]}"#, 2), (#"{"url":"http://127.0.0.1:\#(hook.port)/other"}"#, 2), (#"{"headers":{}}"#, 0),
        (#"{"headers":{"x":"1"}}"#, 1), (body(#"{"x":"1"}"#, port: 9), 1), (#"{"url":"http://127.0.0.1:10/"}"#, 0),
      ] {
        let changed = try await hook.send("PATCH", "/\(id)", change)
        #expect(changed.status == 200 && changed.json["headers"].names.count == names, "\(change)")
      }
    }
  }

  @Test("a list of deliveries says why a message failed, and nothing of hosts and addresses")
  func causes() async throws {
    try await WebhookFixture.with { hook in
      let id = try await hook.create()
      // Nothing listens there any more.
      let closed = try LocalSocket.listening().port
      // No label is so long, so that no server of names is asked.
      let unknown = String(repeating: "x", count: 64) + ".example.org"
      for (url, expected) in [
        ("https://\(unknown)/", "the name cannot be resolved"), ("http://127.0.0.1:\(closed)/", "no connection"),
        ("https://127.0.0.1:\(hook.port)/hook", "TLS failed"),
      ] {
        #expect(try await hook.send("PATCH", "/\(id)", #"{"url":"\#(url)"}"#).status == 200)
        try await hook.notify(.now())
        try await hook.turn()
        let text = try await hook.send("GET", "/\(id)/deliveries").text
        #expect(try await hook.deliveries(id).first?["error"].text == expected)
        #expect(!text.contains("127.0.0.1") && !text.contains("example.org"), "\(text)")
      }
    }
  }

  @Test("the head of a response decides, whether its body has no end or stays away", arguments: [true, false])
  func endless(sendsMore: Bool) async throws {
    try await WebhookFixture.with { hook in
      let (listener, port) = try LocalSocket.listening()
      defer { shutdown(listener.descriptor.number, Int32(SHUT_RDWR)) }
      try NamedThread(name: "endless") {
        let number = accept(listener.descriptor.number, nil, nil)
        guard number >= 0 else { return }
        let connection = Descriptor(owning: number)
        let rest = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        var bytes = Array("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".utf8)
        // Ends: when the client closes the connection.
        while send(connection.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0 {
          guard sendsMore else { break }
          bytes = rest
        }
        // Ends: as above.
        while recv(connection.number, &bytes, bytes.count, 0) > 0 {}
      }.detach()
      let created = try await hook.send("POST", "", #"{"url":"http://127.0.0.1:\#(port)/","kinds":["comment"]}"#)
      let id = try #require(created.json["id"].text)
      try await hook.notify(.now())
      try await hook.turn(timeout: sendsMore ? 15 : 5)
      let delivery = try #require(try await hook.deliveries(id).first)
      #expect(delivery["state"].text == "delivered" && delivery["status"] == .number(200), "\(delivery)")
      #expect(delivery["error"] == .null && delivery["attempts"] == .number(1))
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
