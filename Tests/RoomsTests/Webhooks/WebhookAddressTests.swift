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

@Suite("The addresses of webhooks", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WebhookAddressTests {
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
}
