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

@Suite("The secrets of webhooks", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WebhookSecretTests {
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

  @Test("header fields of the operator's are sent, and their values are nowhere else; the service's own are refused")
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
}
