import Crypto
import Dispatch
import HTTPTesting
import Model
import Platform
import Postgres
import Testing
import TokenTesting

@testable import Kit
@testable import Rooms

/// Requests with tokens of several identity providers.
@Suite("Identity providers", .tags(.database, .network), .timeLimit(.minutes(60)))
struct IdentityProvidersTests {
  private typealias Source = IdentityProviderTests.Source

  private static func source(_ name: String, prefix: String? = nil) async throws -> Source {
    let prefix = prefix ?? "\(name)-"
    return try await Source(IdentityRules(issuer: "https://\(name).example", audience: "take5", prefix: prefix))
  }

  private static func with(
    _ sources: Source..., body: (RunningAPI) async throws -> Void
  ) async throws {
    var setting = RunningAPI.Setting()
    for source in sources { setting.providers.append(await source.provider()) }
    try await RunningAPI.with(setting, body)
  }

  private static func post(_ bearer: [(String, String)], _ api: RunningAPI) async throws -> ClientResponse {
    let body = #"{"kind":"marker","title":"Here","visibility":"private"}"#
    return try await UserClient.send("POST", "/v1/posts", bearer, body, api)
  }

  @Test("the same sub of two providers is two users")
  func users() async throws {
    let (apple, google) = (try await Self.source("apple"), try await Self.source("google"))
    try await Self.with(apple, google) { api in
      for (source, other) in [(apple, google), (google, apple)] {
        let bearer = try await source.bearer()
        let post = try await Self.post(bearer, api)
        #expect(post.json["author"].text == "\(source.rules.prefix)ada", "\(post.text)")
        let path = try #require(post.headers["location"])
        #expect(try await api.get(path, headers: bearer).status == 200)
        #expect(try await api.get(path, headers: other.bearer()).status == 404)
        for user in ["ada", "\(other.rules.prefix)ada"] {
          #expect(try await UserClient.kind(api.get(path, headers: bearer + [("Take5-User", user)])) == "not_yours")
        }
      }
    }
  }

  @Test("a token is verified with the keys of its issuer, and of no other provider")
  func keys() async throws {
    let (apple, google) = (try await Self.source("apple"), try await Self.source("google"))
    let second = try await google.issuer.ecKey("second")
    google.keys.withLock { $0.append(second) }
    try await Self.with(apple, google) { api in
      let cases: [(bearer: [(String, String)], detail: String)] = [
        // Their keys have the same name.
        (try await apple.bearer(key: google.keys.withLock { $0[0] }), "signature"),
        (try await google.bearer(key: apple.keys.withLock { $0[0] }), "signature"),
        (try await apple.bearer(key: second), "key"),
        (try await apple.bearer(issuer: "https://apple.example/"), "issuer"),
        (try await apple.bearer(issuer: "https://other.example"), "issuer"),
        (try await apple.bearer(issuer: ""), "issuer"),
      ]
      for (bearer, detail) in cases {
        for _ in 0..<2 {
          let response = try await api.get("/v1/posts", headers: bearer)
          #expect(response.status == 401 && response.json["detail"].text?.contains(detail) == true, "\(response.text)")
        }
      }
      for bearer in [try await apple.bearer(), try await google.bearer(key: second)] {
        #expect(try await api.get("/v1/posts", headers: bearer).status == 200)
      }
    }
  }

  @Test("a user id belongs to the provider with the longest prefix, and has at most 200 characters with it")
  func prefixes() async throws {
    let (own, apple) = (try await Self.source("own", prefix: ""), try await Self.source("apple"))
    try await Self.with(own, apple) { api in
      #expect(try await Self.post(own.bearer(), api).json["author"].text == "ada")
      #expect(try await Self.post(apple.bearer(), api).json["author"].text == "apple-ada")
      let long = String(repeating: "a", count: 194)
      for (bearer, status) in [
        (try await own.bearer("apple-ada"), 401), (try await own.bearer("apple-"), 401),
        (try await own.bearer("apple"), 200), (try await apple.bearer(""), 401),
        (try await apple.bearer(long), 200), (try await apple.bearer(long + "a"), 401),
        (try await own.bearer(long + "a"), 200),
      ] {
        for _ in 0..<2 { #expect(try await api.get("/v1/posts", headers: bearer).status == status) }
      }
    }
  }

  @Test("a provider that is down or does not respond delays and refuses no token of another one")
  func outage() async throws {
    let (apple, google) = (try await Self.source("apple"), try await Self.source("google"))
    let (reading, proceed) = (OneShot<Void>(), DispatchSemaphore(value: 0))
    let keys = TokenIssuer.keySet(google.keys.withLock(\.self))
    var setting = RunningAPI.Setting()
    setting.providers = [
      IdentityProvider(rules: google.rules, minInterval: .zero) {
        reading.fulfil(())
        proceed.wait()
        return keys
      }, await apple.provider(),
    ]
    try await RunningAPI.with(setting) { api in
      let token = try await google.bearer()
      async let waiting = api.get("/v1/posts", headers: token)
      await reading.value
      let status = try await api.get("/v1/posts", headers: apple.bearer()).status
      proceed.signal()
      #expect(status == 200)
      #expect(try await waiting.status == 200)
    }
    google.isDown.withLock { $0 = true }
    try await Self.with(google, apple) { api in
      #expect(try await UserClient.kind(api.get("/v1/posts", headers: google.bearer())) == "key_set_unavailable")
      let unknown = try await apple.bearer(key: apple.issuer.ecKey("other"))
      #expect(try await api.get("/v1/posts", headers: unknown).status == 401)
      #expect(try await api.get("/v1/posts", headers: apple.bearer()).status == 200)
    }
  }

  @Test("media URLs and tickets end with the key of their own provider, also if another one has the same key")
  func sharedKey() async throws {
    let (one, two) = (try await Self.source("one"), try await Self.source("two"))
    let shared = two.keys.withLock { $0 }
    one.keys.withLock { $0 = shared }
    try await Self.with(one, two) { api in
      let post = try await AccessFixture(api, visibility: .private).post
      func url(of source: Source) async throws -> String {
        try await api.execute("UPDATE post SET author = '\(source.rules.prefix)ada' WHERE public_id = '\(post)'")
        let response = try await api.get("/v1/posts/\(post)", headers: source.bearer())
        return try #require(response.json["assets"]["poster"]["url"].text)
      }
      func ticket(of source: Source) async throws -> String {
        let response = try await UserClient.send("POST", "/v1/events/tickets", source.bearer(), nil, api)
        return "/v1/events?ticket=\(try #require(response.json["ticket"].text))"
      }
      let first = try await url(of: one)
      #expect(try await api.get(first).status == 200)
      #expect(try await api.get(first.replacing("user=one-ada", with: "user=two-ada")).status == 403)
      let second = try await url(of: two)
      #expect(try await api.get(second).status == 200)
      #expect(try await api.get(second.replacing("user=two-ada", with: "user=one-ada")).status == 403)
      let tickets = (try await ticket(of: one), try await ticket(of: two))
      let other = try await one.issuer.ecKey("other")
      one.keys.withLock { $0 = [other] }
      await api.access.providers.refresh()
      #expect(try await api.get(first).status == 403)
      #expect(try await api.get(second).status == 200)
      #expect(try await UserClient.kind(api.get(tickets.0)) == "ticket_invalid")
      #expect(try await api.events(0, of: nil, path: tickets.1).isEmpty)
    }
  }
}
