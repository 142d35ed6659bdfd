import Crypto
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing

@testable import Kit
@testable import Rooms

/// Who may try a password how often, and what a name and a password are.
@Suite("Limits of sign-ins", .tags(.database, .network), .timeLimit(.minutes(60)))
struct SignInLimitTests {
  private static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  /// Whether an attempt is admitted.
  private static func tries(_ name: String, from client: IPAddress, _ limits: RateLimits) -> Bool {
    do {
      try limits.count(try limits.beginSignIn(from: client), as: name)
      return true
    } catch {
      return false
    }
  }

  @Test("strangers neither lock a name out of its address, nor try it without end from many addresses")
  func strangers() throws {
    let time = Shared(0.0)
    let limits = RateLimits(.init(), now: { time.withLock { $0 } })
    let home = try Self.address("203.0.113.1")
    limits.recordSignIn(as: "Ada", from: home)
    // Each address has ten attempts, and all of them a hundred.
    for last in 1...10 {
      let stranger = try Self.address("198.51.100.\(last)")
      for _ in 0..<10 { #expect(Self.tries("ada", from: stranger, limits)) }
      #expect(!Self.tries("ADA", from: stranger, limits))
      #expect(Self.tries("bob", from: stranger, limits))
    }
    let other = try Self.address("198.51.100.11")
    #expect(!Self.tries("ada", from: other, limits))
    // The name has its own share where it has signed in.
    for _ in 0..<10 { #expect(Self.tries("aDa", from: home, limits)) }
    #expect(!Self.tries("ada", from: home, limits))
    // In six seconds one attempt is back for all strangers, and none yet for the first of them.
    time.withLock { $0 = 6 }
    #expect(try !Self.tries("ada", from: Self.address("198.51.100.1"), limits))
    #expect(try Self.tries("ada", from: Self.address("198.51.100.12"), limits))
    #expect(!Self.tries("ada", from: other, limits))
  }

  @Test("others at an address do not use up what a name has there that has signed in from it")
  func sharedAddress() throws {
    var configuration = RateLimits.Configuration()
    configuration.attemptsOfAddress = .init(perMinute: 1, burst: 3)
    let limits = RateLimits(configuration, now: { 0 })
    let carrier = try Self.address("203.0.113.1")
    limits.recordSignIn(as: "ada", from: carrier)
    for name in ["bob", "carl", "dora"] { #expect(Self.tries(name, from: carrier, limits)) }
    #expect(!Self.tries("bob", from: carrier, limits))
    #expect(throws: Problem.self) { try limits.countRegistration(from: carrier) }
    for _ in 0..<10 { #expect(Self.tries("ada", from: carrier, limits)) }
    #expect(!Self.tries("ada", from: carrier, limits))
    // At an address without a sign-in before, the body is not even read.
    let other = try Self.address("203.0.113.2")
    for name in ["bob", "carl", "dora"] { #expect(Self.tries(name, from: other, limits)) }
    #expect(throws: Problem.self) { _ = try limits.beginSignIn(from: other) }
  }

  @Test(
    "an attempt counts before its body is read, which has 4 KiB at most, and 64 KiB with a profile",
    arguments: [("/v1/sessions", 4 << 10), ("/v1/accounts", JSONBody.maxBytes)])
  func bodies(path: String, limit: Int) async throws {
    var limits = RateLimits.Configuration()
    limits.attemptsOfAddress = .init(perMinute: 1, burst: 2)
    try await AccountTests.with(limits) { api in
      let long = #"{"user_name":"ada","password":"\#(String(repeating: "x", count: limit))"}"#
      #expect(try await UserClient.send("POST", path, [], long, api).status == 413)
      var statuses: [Int] = []
      for _ in 0..<3 { statuses.append(try await UserClient.send("POST", path, [], "[", api).status) }
      #expect(statuses == [400, 400, 429])
    }
  }

  private static func signIn(_ api: RunningAPI, _ name: String, _ password: String) async throws -> Int {
    try await UserClient.send(
      "POST", "/v1/sessions", [], #"{"user_name":"\#(name)","password":"\#(password)"}"#, api
    ).status
  }

  @Test("a name that no user can register is not looked up, and its sign-in fails as any other")
  func otherNames() async throws {
    try await AccountTests.with { api in
      let body = #"{"user_name":"mississippi","password":"correct horse"}"#
      let registered = try await UserClient.send("POST", "/v1/accounts", [], body, api)
      #expect(registered.status == 201)
      for name in ["mİssissippi", "ｍississippi", "mississippi ", "a b"] {
        // More often than a name may be tried.
        for _ in 0..<11 { #expect(try await Self.signIn(api, name, "correct horse") == 401) }
      }
      #expect(try await Self.signIn(api, "MISSISSIPPI", "correct horse") == 201)
    }
  }

  @Test("a password is the same however its characters are composed, and an older hash is of what was typed")
  func composition() async throws {
    try await AccountTests.with { api in
      let (composed, decomposed) = ("caf\u{E9} au lait", "cafe\u{301} au lait")
      let body = #"{"user_name":"ada","password":"\#(decomposed)"}"#
      let registered = try await UserClient.send("POST", "/v1/accounts", [], body, api)
      #expect(registered.status == 201)
      for password in [composed, decomposed, "caf\u{E9}\u{A0}au\u{2003}lait"] {
        #expect(try await Self.signIn(api, "ada", password) == 201)
      }
      #expect(try await Self.signIn(api, "ada", "cafe au lait") == 401)
      let changed = try await UserClient.send(
        "PUT", "/v1/accounts/current/password", UserClient.bearer(registered),
        #"{"former_password":"\#(composed)","password":"na\#u{EF}ve caf\#u{E9}"}"#, api)
      #expect(changed.status == 204)
      #expect(try await Self.signIn(api, "ada", "nai\u{308}ve cafe\u{301}") == 201)
      // Four characters are too few, also if they are typed as eight.
      let short = String(repeating: "e\u{301}", count: 4)
      let refused = try await UserClient.send(
        "POST", "/v1/accounts", [], #"{"user_name":"bob","password":"\#(short)"}"#, api)
      #expect(refused.status == 400)
      // By libargon2, of the decomposed bytes, as versions before this one have hashed them.
      let older = PasswordHash(text: Self.ofDecomposed)
      let user = try #require(registered.json["user"].text)
      _ = try await api.pool.transaction { try Accounts.setPassword(of: user, older, $0) }
      #expect(try await Self.signIn(api, "ada", decomposed) == 201)
      #expect(try await Self.signIn(api, "ada", "cafe au lait") == 401)
    }
  }

  private static let ofDecomposed =
    "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg"
    + "$WU6ICPx+zYfHT0l4+6TdWMp7FbgIQom5B8+K6k7Hb3s"

  @Test("no user takes a reserved name, and a back-end may give one")
  func reserved() async throws {
    try await AccountTests.with { api in
      for name in ["admin", "Root", "ME", "current", "take5", "system", "support", "moderator", ".", "..", "_-."] {
        let response = try await UserClient.send(
          "POST", "/v1/accounts", [], #"{"user_name":"\#(name)","password":"correct horse"}"#, api)
        #expect(response.status == 409 && UserClient.kind(response) == "user_name_taken", "\(name)")
      }
      _ = try await api.createKey("t5-people", [.change, .read])
      let registered = try await UserClient.send(
        "POST", "/v1/accounts", [], #"{"user_name":"ada","password":"correct horse"}"#, api)
      let token = try UserClient.bearer(registered)
      let path = "/v1/users/\(try #require(registered.json["user"].text))"
      #expect(try await UserClient.send("PUT", path, token, #"{"user_name":"Admin"}"#, api).status == 409)
      let key = [("Authorization", "Bearer t5-people")]
      #expect(try await UserClient.send("PUT", path, key, #"{"user_name":"admin"}"#, api).status == 200)
      // Who has the name keeps it, and signs in with it.
      #expect(try await UserClient.send("PUT", path, token, #"{"user_name":"Admin","bio":"Hi"}"#, api).status == 200)
      #expect(try await Self.signIn(api, "admin", "correct horse") == 201)
    }
  }
}
