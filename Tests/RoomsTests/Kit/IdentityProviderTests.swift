import Crypto
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import TokenTesting
import WaitTesting

@testable import Kit
@testable import Rooms

/// Requests with tokens of the app's own identity provider, which openssl(1) has signed.
@Suite("Identity provider", .tags(.database, .network), .timeLimit(.minutes(60)))
struct IdentityProviderTests {
  /// An identity provider whose key set a test changes.
  final class Source: Sendable {
    let issuer: TokenIssuer
    let keys: Locked<[TokenIssuer.Key]>
    /// The number of reads of the key set.
    let reads = Locked(0)
    let isDown = Locked(false)
    let rules: IdentityRules

    init(_ rules: IdentityRules = IdentityRules(issuer: "https://id.example", audience: "take5")) async throws {
      self.rules = rules
      issuer = try TokenIssuer()
      keys = Locked([try await issuer.ecKey("first")])
    }

    struct Outage: Error {}

    func provider(
      minInterval: Duration = .zero, maxAge: Duration = IdentityProvider.maxAge
    ) async -> IdentityProvider {
      let provider = IdentityProvider(
        rules: rules, minInterval: minInterval, maxAge: maxAge
      ) {
        self.reads.withLock { $0 += 1 }
        if self.isDown.withLock(\.self) { throw Outage() }
        return TokenIssuer.keySet(self.keys.withLock(\.self))
      }
      await provider.refresh()
      return provider
    }

    /// Returns the header field with a token; the clock of the API stands at 1,800,000,000.
    func bearer(
      _ user: String = "ada", issuer: String? = nil, audience: String = "take5", expires: Int = 1_800_000_600,
      key: TokenIssuer.Key? = nil, as algorithm: TokenIssuer.Algorithm = .es256
    ) async throws -> [(String, String)] {
      let claims = #"{"iss":"\#(issuer ?? rules.issuer)","aud":"\#(audience)","sub":"\#(user)","exp":\#(expires)}"#
      let token = try await self.issuer.token(claims, key ?? keys.withLock { $0[0] }, algorithm)
      return [("Authorization", "Bearer \(token)")]
    }
  }

  private static func with(
    minInterval: Duration = .zero, _ body: (RunningAPI, Source) async throws -> Void
  ) async throws {
    let source = try await Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider(minInterval: minInterval)]
    try await RunningAPI.with(setting) { try await body($0, source) }
  }

  @Test("a token acts as the user of its claim sub, and as no other one")
  func acting() async throws {
    try await Self.with { api, source in
      let ada = try await source.bearer()
      let body = #"{"kind":"marker","title":"Here","visibility":"private"}"#
      let post = try await UserClient.send("POST", "/v1/posts", ada, body, api)
      #expect(post.status == 201 && post.json["author"] == .string("ada"))
      let path = try #require(post.headers["location"])
      // The second request finds the token in the cache.
      for _ in 0..<2 { #expect(try await api.get(path, headers: ada).status == 200) }
      #expect(try await api.get(path, headers: source.bearer("bob")).status == 404)
      #expect(try await api.get(path, headers: ada + [("Take5-User", "ada")]).status == 200)
      let other = try await api.get(path, headers: ada + [("Take5-User", "bob")])
      #expect(other.status == 403 && UserClient.kind(other) == "not_yours")
      for (method, path) in [
        ("GET", "/metrics"), ("GET", "/v1/jobs"), ("GET", "/v1/users/ada/tokens"), ("DELETE", "/v1/tokens/current"),
      ] {
        let refused = try await UserClient.send(method, path, ada, nil, api)
        #expect(refused.status == 403 && UserClient.kind(refused) == "forbidden", "\(method) \(path)")
      }
      // With an identity provider no client is anonymous, even on this machine and before the first API key.
      #expect(try await api.get(path).status == 401)
    }
  }

  @Test("a token that is not valid gets 401, and the response says why without repeating it")
  func refused() async throws {
    try await Self.with { api, source in
      let rsa = try await source.issuer.rsaKey("rsa")
      let stranger = try await source.issuer.ecKey("first")
      source.keys.withLock { $0.append(rsa) }
      await api.access.providers.refresh()
      let valid = try await source.bearer()
      let cases: [(name: String, bearer: [(String, String)], detail: String)] = [
        ("of another audience", try await source.bearer(audience: "other"), "audience"),
        ("expired", try await source.bearer(expires: 1_800_000_000), "expired"),
        ("with a wrong signature", try await source.bearer(key: stranger), "signature"),
        ("unsigned", try await source.bearer(as: .none), "algorithm"),
        ("HS256 with the public key", try await source.bearer(key: rsa, as: .hs256), "algorithm"),
        ("of an unknown key", try await source.bearer(key: source.issuer.ecKey("other")), "key"),
        ("without sub", try await source.bearer(""), "sub"),
        ("that is too long", [("Authorization", valid[0].1 + String(repeating: "A", count: 8 << 10))], "longer"),
      ]
      for (name, bearer, detail) in cases {
        for _ in 0..<2 {
          let response = try await api.get("/v1/posts", headers: bearer)
          #expect(response.status == 401 && UserClient.kind(response) == "unauthorized", "\(name)")
          #expect(response.json["detail"].text?.contains(detail) == true, "\(name): \(response.text)")
          #expect(!response.text.contains("eyJ"), "\(name)")
        }
      }
      #expect(try await api.get("/v1/posts", headers: valid).status == 200)
    }
  }

  @Test("a service without an identity provider accepts no token of one")
  func absent() async throws {
    let source = try await Source()
    try await RunningAPI.with { api in
      _ = try await api.createKey("t5-backend", [.read])
      #expect(try await api.get("/v1/posts", headers: source.bearer()).status == 401)
    }
  }

  @Test("a new key is found by its first token, and a removed key is invalid with its tokens and media URLs")
  func rotation() async throws {
    try await Self.with { api, source in
      let fixture = try await AccessFixture(api, visibility: .private)
      let old = try await source.bearer()
      let url = try #require(
        try await api.get("/v1/posts/\(fixture.post)", headers: old).json["assets"]["poster"]["url"].text)
      #expect(try await api.get(url).status == 200)
      let second = try await source.issuer.ecKey("second")
      source.keys.withLock { $0.append(second) }
      let new = try await source.bearer(key: second)
      #expect(try await api.get("/v1/posts", headers: new).status == 200)
      #expect(try await api.get("/v1/posts", headers: old).status == 200)
      source.keys.withLock { $0 = [second] }
      await api.access.providers.refresh()
      #expect(try await api.get("/v1/posts", headers: old).status == 401)
      #expect(try await api.get(url).status == 403)
      // A key of the same name is another one.
      let again = try await source.issuer.ecKey("first")
      source.keys.withLock { $0 = [second, again] }
      await api.access.providers.refresh()
      #expect(try await api.get("/v1/posts", headers: old).status == 401)
      #expect(try await api.get(url).status == 403)
      #expect(try await api.get("/v1/posts", headers: new).status == 200)
    }
  }

  @Test("media URLs belong to the user of the token and expire with it")
  func mediaURLs() async throws {
    try await Self.with { api, source in
      let fixture = try await AccessFixture(api, visibility: .private)
      let url = try #require(
        try await api.get("/v1/posts/\(fixture.post)", headers: source.bearer()).json["assets"]["poster"]["url"]
          .text)
      #expect(url.contains("expires=1800000600&") && url.contains("&user=ada&"))
      #expect(try await api.get(url).status == 200)
      for changed in [
        url.replacing("&user=ada", with: ""), url.replacing("&user=ada", with: "&user=bob"),
        url.replacing("expires=1800000600", with: "expires=1800003600"),
      ] {
        #expect(try await api.get(changed).status == 403)
      }
      let distant = try await source.bearer(expires: 1_900_000_000)
      let later = try #require(
        try await api.get("/v1/posts/\(fixture.post)", headers: distant).json["assets"]["poster"]["url"].text)
      let expires = try #require(later.firstMatch(of: /expires=([0-9]+)&/).flatMap { Int($0.1) })
      #expect(1_800_086_400...1_800_172_800 ~= expires)
      try await api.pool.run { session in
        _ = try session.execute(
          "UPDATE post SET author = 'bob' WHERE public_id = $1::uuid", .text("\(fixture.post)"))
      }
      #expect(try await api.get(url).status == 404)
    }
  }

  @Test(
    "while the key set cannot be read, known keys stay valid and others get 503; clients cannot make it be read often")
  func outage() async throws {
    let source = try await Source()
    source.isDown.withLock { $0 = true }
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider()]
    try await RunningAPI.with(setting) { api in
      let token = try await source.bearer()
      let unread = try await api.get("/v1/posts", headers: token)
      #expect(unread.status == 503 && UserClient.kind(unread) == "key_set_unavailable")
      #expect(unread.headers["retry-after"] != nil)
      source.isDown.withLock { $0 = false }
      #expect(try await api.get("/v1/posts", headers: token).status == 200)
      source.isDown.withLock { $0 = true }
      await api.access.providers.refresh()
      #expect(try await api.get("/v1/posts", headers: token).status == 200)
      let unknown = try await source.bearer(key: source.issuer.ecKey("other"))
      #expect(try await api.get("/v1/posts", headers: unknown).status == 503)
    }
    try await Self.with(minInterval: .seconds(3600)) { api, source in
      let unknown = try await source.bearer(key: source.issuer.ecKey("other"))
      for _ in 0..<3 { #expect(try await api.get("/v1/posts", headers: unknown).status == 401) }
      #expect(source.reads.withLock(\.self) == 1)
    }
  }

  @Test("a key set that cannot be read again is not in use for longer than its maximum age")
  func oldKeySet() async throws {
    let source = try await Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider(maxAge: .zero)]
    try await RunningAPI.with(setting) { api in
      let fixture = try await AccessFixture(api, visibility: .private)
      let token = try await source.bearer()
      let post = try await api.get("/v1/posts/\(fixture.post)", headers: token)
      let url = try #require(post.json["assets"]["poster"]["url"].text)
      #expect(try await api.get(url).status == 200)
      source.isDown.withLock { $0 = true }
      await api.access.providers.refresh()
      #expect(try await api.get("/v1/posts", headers: token).status == 503)
      #expect(try await api.get(url).status == 403)
      source.isDown.withLock { $0 = false }
      #expect(try await api.get("/v1/posts", headers: token).status == 200)
    }
  }

  @Test("the requests of a token count for its user, and failed ones for the address")
  func rateLimits() async throws {
    let source = try await Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider()]
    setting.limits.requestsPerMinute = 2
    try await RunningAPI.with(setting) { api in
      let (ada, other) = (try await source.bearer(), try await source.bearer(audience: "other"))
      var statuses: [Int] = []
      // The first one also counts for the address, which verifies the token.
      for _ in 0..<3 { statuses.append(try await api.get("/v1/posts", headers: ada).status) }
      #expect(statuses == [200, 200, 429])
      statuses = []
      for _ in 0..<2 { statuses.append(try await api.get("/v1/posts", headers: other).status) }
      #expect(statuses == [401, 429])
    }
  }

  @Test("a ticket opens one stream of the user of a token, as long as the token and its key are valid")
  func tickets() async throws {
    try await Self.with { api, source in
      func ticket(_ bearer: [(String, String)]) async throws -> String {
        let response = try await UserClient.send("POST", "/v1/events/tickets", bearer, nil, api)
        #expect(response.status == 201)
        return "/v1/events?ticket=\(try #require(response.json["ticket"].text))"
      }
      let port = api.port
      let path = try await ticket(source.bearer())
      async let end: Void = onThread("client") {
        var reader = try EventReader.open(port: port, path, [])
        let deadline = Deadline("the end of a stream")
        while try reader.next() != nil { try deadline.check() }
      }
      try await until { api.changes.streams.count != 0 }
      #expect(try await UserClient.kind(api.get(path)) == "ticket_invalid")
      let unused = try await ticket(source.bearer())
      let expiring = try await ticket(source.bearer())
      try await api.execute("UPDATE event_ticket SET signer_expires = 1800000000")
      #expect(try await UserClient.kind(api.get(expiring)) == "ticket_invalid")
      try await api.execute("UPDATE event_ticket SET signer_expires = 1800000600")
      let other = try await source.issuer.ecKey("other")
      source.keys.withLock { $0 = [other] }
      await api.access.providers.refresh()
      try await end
      #expect(try await UserClient.kind(api.get(unused)) == "ticket_invalid")
    }
  }
}
