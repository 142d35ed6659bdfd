import Crypto
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

/// The cookie of the console: what it is worth, when it ends, and what pages of other origins get with it.
@Suite("Sign-in of the console", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ConsoleSessionTests {
  private static let console = ("Take5-Console", "1")

  /// Runs a test with a service that has the operator's key `k1` and the API key `t5-console`.
  private static func with(
    _ setting: RunningAPI.Setting = .init(), _ body: (RunningAPI, Int64) async throws -> Void
  ) async throws {
    var setting = setting
    setting.key = "k1"
    try await RunningAPI.with(setting) { api in
      try await body(api, try await api.createKey("t5-console", [.admin, .read]))
    }
  }

  private static func signIn(
    _ key: String, _ api: RunningAPI, _ headers: [(String, String)] = []
  ) async throws -> ClientResponse {
    try await UserClient.send("POST", "/console/session", headers, #"{"key":"\#(key)"}"#, api)
  }

  /// The header field with the cookie of a sign-in.
  private static func cookie(_ key: String, _ api: RunningAPI) async throws -> (String, String) {
    let field = try #require(try await signIn(key, api).headers["set-cookie"])
    return ("Cookie", "theme=dark; \(field.prefix { $0 != ";" })")
  }

  private static func status(_ headers: (String, String)..., api: RunningAPI) async throws -> Int {
    try await api.get("/v1/jobs", headers: headers).status
  }

  @Test("an API key signs in with its name and its scopes, and signs out")
  func life() async throws {
    try await Self.with { api, _ in
      let out = try await api.get("/console/session", headers: [Self.console])
      #expect(out.status == 200 && out.json["signed_in"] == .boolean(false) && out.json["version"] == .null)
      #expect(out.json["credential"] == .string("none") && out.json["scopes"].elements.isEmpty)
      let signedIn = try await Self.signIn(" t5-console ", api)
      #expect(signedIn.status == 200 && signedIn.headers["cache-control"] == "no-store")
      let field = try #require(signedIn.headers["set-cookie"])
      #expect(field.hasPrefix("take5_console=") && !field.contains("t5-console"))
      #expect(field.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"))
      let cookie = try await Self.cookie("t5-console", api)
      for facts in [signedIn, try await api.get("/console/session", headers: [Self.console, cookie])] {
        #expect(facts.json["signed_in"] == .boolean(true) && facts.json["credential"] == .string("key"))
        #expect(facts.json["name"] == .string("test") && facts.json["accounts"] == .boolean(false))
        #expect(facts.json["scopes"].elements == [.string("read"), .string("admin")])
        #expect(facts.json["version"] == .string(ThisProcess.version))
        #expect(facts.json["definitions"].elements.contains(.string("take5-post")))
      }
      #expect(try await Self.status(Self.console, cookie, api: api) == 200)
      let deletion = try await request(
        "DELETE", "/v1/posts/\(PublicID.now())", port: api.port, headers: [Self.console, cookie])
      #expect(deletion.status == 403 && UserClient.kind(deletion) == "forbidden")
      let signedOut = try await request("DELETE", "/console/session", port: api.port, headers: [Self.console, cookie])
      #expect(signedOut.status == 204)
      #expect(signedOut.headers["set-cookie"] == "take5_console=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
    }
  }

  @Test("the operator's key has all scopes, acts as a user, and is known to each process of the service")
  func operatorKey() async throws {
    try await Self.with { api, _ in
      let signedIn = try await Self.signIn("k1", api)
      #expect(signedIn.json["credential"] == .string("operator") && signedIn.json["name"] == .string("operator"))
      #expect(signedIn.json["scopes"].elements.count == Scope.allCases.count)
      let cookie = try await Self.cookie("k1", api)
      let post = try await UserClient.send(
        "POST", "/v1/posts", [Self.console, cookie, ("Take5-User", "grace")], #"{"kind":"marker","title":"Here"}"#, api)
      #expect(post.status == 201 && post.json["author"] == .string("grace"))
      #expect(try await api.get("/v1/users/me/tokens", headers: [Self.console, cookie]).status == 200)
      // Of a user token there is none: a route for tokens alone refuses the key.
      let token = try await request(
        "DELETE", "/v1/tokens/current", port: api.port, headers: [Self.console, cookie])
      #expect(token.status == 403)
      let other = AccessControl(
        operatorKey: "k1", isLoopback: true, limits: RateLimits(.init(), now: { 0 }),
        tokens: UserTokenCache { _ in nil }, now: { 1_800_000_000 })
      try await other.refresh(api.pool)
      let head = RequestHead(
        method: "GET", target: try #require(RequestTarget("/v1/jobs")), version: .http11,
        headers: [Self.console.0: Self.console.1, cookie.0: cookie.1], framing: .none)
      let admitted = try other.admitConsole(head, from: try #require(IPAddress("127.0.0.1")), to: .key([.admin]))
      #expect(admitted.credential == .operatorKey)
    }
  }

  @Test(
    "without the header field, with another credential, or from a page of another site the cookie counts for nothing")
  func otherPages() async throws {
    try await Self.with { api, _ in
      let cookie = try await Self.cookie("t5-console", api)
      #expect(try await Self.status(cookie, api: api) == 401)
      #expect(try await Self.status(cookie, ("Take5-Console", "0"), api: api) == 401)
      #expect(try await api.get("/console/session", headers: [cookie]).json["signed_in"] == .boolean(false))
      for site in ["cross-site", "same-site", "none"] {
        let headers = [Self.console, cookie, ("Sec-Fetch-Site", site)]
        #expect(try await api.get("/v1/jobs", headers: headers).status == 401, "\(site)")
        #expect(try await api.get("/console/session", headers: headers).json["signed_in"] == .boolean(false), "\(site)")
      }
      #expect(try await Self.status(Self.console, cookie, ("Sec-Fetch-Site", "same-origin"), api: api) == 200)
      for (origin, status) in [("http://evil.example", 401), ("null", 401), ("http://localhost", 200)] {
        #expect(
          try await Self.status(Self.console, cookie, ("Origin", origin), api: api) == status)
      }
      #expect(try await Self.status(Self.console, cookie, ("Authorization", "Bearer t5-other"), api: api) == 401)
      let none = try await api.get("/v1/jobs", headers: [Self.console])
      #expect(none.status == 401 && UserClient.kind(none) == "unauthorized")
      #expect(none.json["detail"].text?.contains("/console") == true)
    }
  }

  @Test("a request counts for its address before its cookie is looked at, and two cookies of the name are")
  func flood() async throws {
    try await Self.with { api, _ in
      let (name, value) = try await Self.cookie("t5-console", api)
      let client = try #require(IPAddress("192.0.2.7"))
      var limits = RateLimits.Configuration()
      limits.requestsPerMinute = 7
      let access = AccessControl(
        operatorKey: "k1", isLoopback: false, limits: RateLimits(limits, now: { 0 }),
        tokens: UserTokenCache { _ in nil }, now: { 1_800_000_000 })
      try await access.refresh(api.pool)
      let target = try #require(RequestTarget("/v1/jobs"))
      func admit(_ cookies: [String]) -> String {
        let head = RequestHead(
          method: "GET", target: target, version: .http11,
          headers: [Self.console.0: Self.console.1, name: cookies.joined(separator: "; ")], framing: .none)
        do throws(Problem) {
          _ = try access.admitConsole(head, from: client, to: .key([.read]))
          return "admitted"
        } catch {
          return error.type.split(separator: ":").last.map(String.init) ?? ""
        }
      }
      let forged = "take5_console=operator.1800001000.\(String(repeating: "0", count: 64))"
      let other = String(repeating: "a=b; ", count: 5000) + "a=b"
      #expect(admit([value]) == "admitted")
      #expect(admit([forged, value]) == "admitted")
      #expect(admit([other, value, other]) == "admitted")
      #expect(admit([forged, forged, value]) == "admitted")
      #expect(admit([value, forged, forged]) == "session_ended")
      #expect(admit(Array(repeating: forged, count: 300)) == "session_ended")
      #expect(admit([other]) == "unauthorized")
      // Neither a valid cookie nor 300 others are looked at any more.
      #expect(admit([value]) == "too_many_requests")
      #expect(admit(Array(repeating: forged, count: 300)) == "too_many_requests")
    }
  }

  @Test("a preflight of an allowed origin does not permit the header field")
  func preflight() async throws {
    var setting = RunningAPI.Setting()
    setting.server.allowedOrigins = try AllowedOrigins(["https://app.example.org"])
    try await Self.with(setting) { api, _ in
      for (asked, allowed) in [("authorization, TAKE5-console", "authorization"), ("take5-console", nil)] {
        let response = try await request(
          "OPTIONS", "/v1/jobs", port: api.port,
          headers: [
            ("Origin", "https://app.example.org"), ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", asked),
          ])
        #expect(response.status == 204 && response.headers["access-control-allow-headers"] == allowed)
        #expect(response.headers["access-control-allow-credentials"] == nil)
      }
    }
  }

  @Test("the cookie ends with its key at once, with its time, and with the keys that sign")
  func endings() async throws {
    try await Self.with { api, id in
      let cookie = try await Self.cookie("t5-console", api)
      try await api.pool.transaction { try Keys.rotateSigningKeys(keepingOld: 3600, $0) }
      try await api.access.refresh(api.pool)
      #expect(try await Self.status(Self.console, cookie, api: api) == 200)
      try await api.revoke(id)
      let revoked = try await api.get("/v1/jobs", headers: [Self.console, cookie])
      #expect(revoked.status == 401 && UserClient.kind(revoked) == "session_ended")
      #expect(revoked.headers["www-authenticate"] == #"Bearer realm="take5""#)
      #expect(
        try await api.get("/console/session", headers: [Self.console, cookie]).json["signed_in"] == .boolean(false))
      let ofOperator = try await Self.cookie("k1", api)
      try await api.pool.transaction { try Keys.rotateSigningKeys(keepingOld: 0, $0) }
      try await api.access.refresh(api.pool)
      #expect(try await Self.status(Self.console, ofOperator, api: api) == 401)
    }
  }

  @Test("only a code over the minter, the time and the hash of the key, by a key that signs, is admitted")
  func forgeries() async throws {
    try await Self.with { api, id in
      let signing = try await api.pool.transaction { try Keys.signingKeys($0) }
      let secret = try #require(signing.first).secret
      let hash = SHA256.digest(of: Array("t5-console".utf8)).hex
      func status(
        _ minter: String, _ expires: Int, claiming: String? = nil, prefix: String = "CONSOLE", hash: String = hash,
        secret: [UInt8] = secret
      ) async throws -> Int {
        let code = HMAC.code(of: Array("\(prefix)\n\(minter)\n\(expires)\n\(hash)".utf8), key: secret)
        let cookie = ("Cookie", "take5_console=\(claiming ?? minter).\(expires).\(code.hex)")
        return try await Self.status(Self.console, cookie, api: api)
      }
      let now = 1_800_000_000
      #expect(try await status("\(id)", now + 60) == 200)
      #expect(try await status("\(id)", now) == 401)
      #expect(try await status("\(id)", now + 13 * 3600) == 401)
      #expect(try await status("\(id)", now + 60, claiming: "operator") == 401)
      #expect(try await status("operator", now + 60) == 401)
      #expect(try await status("\(id + 1)", now + 60) == 401)
      #expect(try await status("anybody", now + 60, hash: "") == 401)
      #expect(try await status("\(id)", now + 60, prefix: "GET") == 401)
      #expect(try await status("\(id)", now + 60, secret: [UInt8](repeating: 0, count: 32)) == 401)
      for value in ["", "..", "\(id).\(now + 60).", "\(id).x.\(hash)", "\(id)", "a.b.c.d"] {
        #expect(try await Self.status(Self.console, ("Cookie", "take5_console=\(value)"), api: api) == 401, "\(value)")
      }
    }
  }

  @Test("a wrong key is refused, also a user token, and each attempt of an address counts")
  func wrongKeys() async throws {
    var setting = RunningAPI.Setting()
    setting.limits.attemptsOfAddress = .init(perMinute: 1, burst: 4)
    try await Self.with(setting) { api, _ in
      let token = try await api.token(of: "ada", minter: .operatorKey).header[0].1
      for key in ["k2", "t5-consolf", String(token.dropFirst("Bearer ".count))] {
        let refused = try await Self.signIn(key, api)
        #expect(refused.status == 401 && UserClient.kind(refused) == "key_invalid")
        #expect(refused.headers["set-cookie"] == nil)
      }
      #expect(try await Self.signIn("k1", api).status == 200)
      #expect(try await Self.signIn("k1", api).status == 429)
    }
  }

  @Test("requests of the console count for its key")
  func limits() async throws {
    var setting = RunningAPI.Setting()
    setting.limits.requestsPerMinute = 3
    try await Self.with(setting) { api, _ in
      let cookie = try await Self.cookie("t5-console", api)
      let key = ("Authorization", "Bearer t5-console")
      #expect(try await Self.status(Self.console, cookie, api: api) == 200)
      #expect(try await Self.status(key, api: api) == 200)
      #expect(try await Self.status(Self.console, cookie, api: api) == 200)
      #expect(try await Self.status(key, api: api) == 429)
      #expect(try await Self.status(Self.console, cookie, api: api) == 429)
    }
  }

  @Test("a service that needs no key has this machine signed in, and no one behind a proxy")
  func noKey() async throws {
    try await RunningAPI.with { api in
      for facts in [try await api.get("/console/session"), try await Self.signIn("anything", api)] {
        #expect(facts.status == 200 && facts.json["signed_in"] == .boolean(true))
        #expect(facts.json["credential"] == .string("none") && facts.json["name"] == .string("this machine"))
        #expect(facts.json["scopes"].elements.count == Scope.allCases.count)
        #expect(facts.headers["set-cookie"] == nil)
      }
      let proxied = try await api.get("/console/session", headers: [("X-Forwarded-For", "192.0.2.1")])
      #expect(proxied.status == 403 && UserClient.kind(proxied) == "foreign_host")
    }
  }

  @Test("the cookie is for HTTPS alone if a trusted proxy says that the request came so")
  func secure() async throws {
    var setting = RunningAPI.Setting()
    try await Self.with(setting) { api, _ in
      let direct = try await Self.signIn("k1", api, [("X-Forwarded-Proto", "https")])
      #expect(direct.headers["set-cookie"]?.contains("Secure") == false)
    }
    setting.server.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
    try await Self.with(setting) { api, _ in
      let proxied = try await Self.signIn(
        "k1", api, [("X-Forwarded-Proto", "https"), ("X-Forwarded-For", "192.0.2.1")])
      #expect(proxied.headers["set-cookie"]?.hasSuffix("; Secure") == true)
      let plain = try await Self.signIn("k1", api, [("X-Forwarded-Proto", "http"), ("X-Forwarded-For", "192.0.2.1")])
      #expect(plain.headers["set-cookie"]?.contains("Secure") == false)
    }
  }
}
