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

  @Test("the pauses follow the rules, and are longer if the endpoint asks for it")
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
}
