import Crypto
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// Users who register and sign in with a password.
@Suite("Accounts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AccountTests {
  static let ada = #"{"user_name":"Ada","password":"correct horse"}"#

  /// Runs a test with a service that has accounts.
  static func with(
    _ limits: RateLimits.Configuration = .init(), passwords: PasswordWork? = nil,
    _ body: (RunningAPI) async throws -> Void
  ) async throws {
    var setting = RunningAPI.Setting()
    setting.passwords = try passwords ?? PasswordWork()
    setting.limits = limits
    try await RunningAPI.with(setting) { api in
      _ = try await api.createKey("t5-backend", [.tokens])
      try await body(api)
    }
  }

  static func register(_ api: RunningAPI, _ body: String = ada) async throws -> ClientResponse {
    try await UserClient.send("POST", "/v1/accounts", [], body, api)
  }

  static func signIn(
    _ api: RunningAPI, _ name: String = "ada", _ password: String = "correct horse"
  ) async throws -> ClientResponse {
    try await UserClient.send(
      "POST", "/v1/sessions", [], #"{"user_name":"\#(name)","password":"\#(password)"}"#, api)
  }

  static func isValid(_ token: [(String, String)], _ api: RunningAPI) async throws -> Bool {
    let status = try await api.get("/v1/posts", headers: token).status
    #expect(status == 200 || status == 401)
    return status == 200
  }

  @Test("a user registers with the longest biography, in any script")
  func longBiography() async throws {
    try await Self.with { api in
      let biography = String(repeating: "\u{1F30A}", count: 5000)
      let registered = try await Self.register(
        api, #"{"user_name":"ada","password":"correct horse","bio":"\#(biography)"}"#)
      #expect(registered.status == 201, "\(registered.text)")
    }
  }

  @Test("a user registers, submits, signs out, and signs in again in spite of the case of the name")
  func life() async throws {
    try await Self.with { api in
      let registered = try await Self.register(
        api,
        #"{"user_name":"Ada","password":"correct horse","name":"Ada L.","email":"ada@example.org","expires_in":60}"#)
      #expect(registered.status == 201 && registered.headers["cache-control"] == "no-store")
      #expect(
        registered.json.names == ["id", "user", "token", "created_at", "expires_at", "grant", "used_at"])
      #expect(!registered.text.contains("horse"))
      let user = try #require(registered.json["user"].text)
      let token = try UserClient.bearer(registered)
      let post = try await UserClient.send("POST", "/v1/posts", token, #"{"kind":"marker","title":"Here"}"#, api)
      #expect(post.status == 201 && post.json["author"] == .string(user))
      #expect(try await UserClient.send("DELETE", "/v1/tokens/current", token, nil, api).status == 204)
      #expect(try await !Self.isValid(token, api))
      let again = try await Self.signIn(api, "ADA")
      #expect(again.status == 201 && again.json["user"] == .string(user))
      #expect(try await Self.isValid(UserClient.bearer(again), api))
      let stored: String = try await api.pool.run { session in
        try session.execute("SELECT password_hash FROM account").single().get(0)
      }
      #expect(stored.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
    }
  }

  @Test("a user name that is taken has a code of its own, in any case of its letters")
  func taken() async throws {
    try await Self.with { api in
      #expect(try await Self.register(api).status == 201)
      let taken = try await Self.register(api, #"{"user_name":"aDA","password":"battery staple"}"#)
      #expect(taken.status == 409 && UserClient.kind(taken) == "user_name_taken")
      #expect(try await Self.signIn(api, "ada", "battery staple").status == 401)
      // A name of a user without an account is taken too.
      try await api.pool.run { session in
        try People.save(ProfileChange(Profile(userName: "bob")), of: "b", for: .unrestricted, session)
      }
      let profile = try await Self.register(api, #"{"user_name":"BOB","password":"correct horse"}"#)
      #expect(profile.status == 409 && UserClient.kind(profile) == "user_name_taken")
      // Of two requests at the same time one registers.
      let statuses = try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask { try await Self.register(api, #"{"user_name":"eve","password":"correct horse"}"#).status }
        }
        var statuses: [Int] = []
        for try await status in group { statuses.append(status) }
        return statuses
      }
      #expect(statuses.sorted() == [201, 409, 409, 409])
    }
  }

  @Test("a profile of an account is replaced with a user name, the same or another, and never without one")
  func profile() async throws {
    try await Self.with { api in
      let registered = try await Self.register(
        api, #"{"user_name":"Ada","password":"correct horse","email":"ada@example.org"}"#)
      let (token, id) = (try UserClient.bearer(registered), try #require(registered.json["user"].text))
      let path = "/v1/users/\(id)"
      _ = try await api.createKey("t5-profiles", [.change, .read])
      for credential in [token, [("Authorization", "Bearer t5-profiles")]] {
        for body in [#"{"bio":"Hello"}"#, #"{"user_name":null,"bio":"Hello"}"#] {
          let refused = try await UserClient.send("PUT", path, credential, body, api)
          #expect(refused.status == 400 && UserClient.kind(refused) == "invalid_fields")
          #expect(refused.json["errors"].elements.map { $0["field"].text } == ["user_name"])
        }
      }
      let erased = try await UserClient.send("PATCH", path, token, #"{"user_name":null}"#, api)
      #expect(erased.status == 400 && erased.json["errors"].elements.map { $0["field"].text } == ["user_name"])
      let kept = try await api.get(path, headers: token).json
      #expect(kept["user_name"].text == "Ada" && kept["email"].text == "ada@example.org" && kept["bio"] == .null)
      #expect(try await Self.signIn(api).status == 201)
      let patched = try await UserClient.send("PATCH", path, token, #"{"bio":"Hello"}"#, api).json
      #expect(patched["user_name"].text == "Ada" && patched["email"].text == "ada@example.org")
      let renamed = try await UserClient.send("PUT", path, token, #"{"user_name":"eve","bio":"Hello"}"#, api)
      #expect(renamed.status == 200 && renamed.json["bio"].text == "Hello")
      #expect(try await [Self.signIn(api, "eve").status, Self.signIn(api).status] == [201, 401])
    }
  }

  @Test("a failed sign-in does not show whether the name exists")
  func failures() async throws {
    try await Self.with { api in
      #expect(try await Self.register(api).status == 201)
      let wrong = try await Self.signIn(api, "ada", "correct horsf")
      let unknown = try await Self.signIn(api, "bob", "correct horsf")
      #expect(wrong.status == 401 && UserClient.kind(wrong) == "sign_in_failed")
      #expect(wrong.status == unknown.status && wrong.body == unknown.body)
      #expect(wrong.headers["www-authenticate"] == unknown.headers["www-authenticate"])
      #expect(wrong.headers["www-authenticate"] != nil)
      #expect(wrong.headers.keys == unknown.headers.keys)
    }
  }

  @Test("a name that does not exist costs a hash as well")
  func decoy() async throws {
    let passwords = try PasswordWork()
    #expect(try await !passwords.isRight("correct horse", nil, for: Self.client))
    let hash = try await passwords.hash("correct horse", for: Self.client)
    #expect(try await passwords.isRight("correct horse", hash, for: Self.client))
    let none = try PasswordWork(max: 0)
    for hash in [nil, hash] {
      await #expect(throws: Problem.self) { _ = try await none.isRight("correct horse", hash, for: Self.client) }
    }
  }

  @Test(
    "an invalid form names every invalid field",
    arguments: [
      ("/v1/accounts", "{}", ["user_name", "password"]),
      ("/v1/accounts", #"{"user_name":"ada","password":"1234567"}"#, ["password"]),
      ("/v1/accounts", #"{"user_name":"ada","password":12345678}"#, ["password"]),
      ("/v1/accounts", #"{"user_name":"ada","password":"correct\u0000horse"}"#, ["password"]),
      ("/v1/accounts", #"{"user_name":"","password":"correct horse"}"#, ["user_name"]),
      ("/v1/accounts", #"{"user_name":"a b","password":"correct horse"}"#, ["user_name"]),
      ("/v1/accounts", #"{"user_name":"ada","password":"correct horse","role":"admin"}"#, ["role"]),
      ("/v1/accounts", #"{"user_name":"ada","password":"correct horse","id":"bob"}"#, ["id"]),
      (
        "/v1/accounts", #"{"user_name":"ada","password":"correct horse","expires_in":0,"name":7}"#,
        ["expires_in", "name"]
      ),
      ("/v1/sessions", "{}", ["user_name", "password"]),
      ("/v1/sessions", #"{"user_name":"ada"}"#, ["password"]), ("/v1/sessions", #"{"password":"x"}"#, ["user_name"]),
      ("/v1/sessions", #"{"user_name":["ada"],"password":null}"#, ["user_name", "password"]),
      ("/v1/sessions", #"{"user_name":"ada","email":"a@b","password":"x"}"#, ["user_name"]),
      ("/v1/sessions", #"{"user_name":"ada","password":"x","refresh":1}"#, ["refresh"]),
      (
        "/v1/sessions", #"{"user_name":"ada","password":"x","refresh":true,"expires_in":3601,"device":""}"#,
        ["expires_in", "device"]
      ),
      ("/v1/sessions/refresh", "{}", ["refresh_token"]),
      ("/v1/sessions", #"{"email":7,"password":"x"}"#, ["email"]),
      ("/v1/accounts/current/password", "{}", ["former_password", "password"]),
      ("/v1/accounts/current/password", #"{"former_password":"correct horse","password":"short"}"#, ["password"]),
      ("/v1/users/ada/password", "{}", ["password"]),
      ("/v1/users/ada/password", #"{"former_password":"x","password":"correct horse"}"#, ["former_password"]),
    ])
  func invalid(path: String, body: String, fields: [String]) async throws {
    try await Self.with { api in
      let token = try UserClient.bearer(
        try await Self.register(api, #"{"user_name":"eve","password":"correct horse"}"#))
      let credential = path.hasPrefix("/v1/users/") ? UserClient.backend : token
      let method = path.hasSuffix("password") ? "PUT" : "POST"
      let response = try await UserClient.send(method, path, credential, body, api)
      #expect(response.status == 400 && UserClient.kind(response) == "invalid_fields")
      #expect(Set(response.json["errors"].elements.compactMap { $0["field"].text }) == Set(fields))
    }
  }

  @Test("a password of 201 characters is refused, and one of 200 is not cut")
  func longPasswords() async throws {
    try await Self.with { api in
      let long = String(repeating: "é", count: 200)
      let longer = try await Self.register(api, #"{"user_name":"a","password":"\#(long)x"}"#)
      #expect(longer.status == 400)
      #expect(try await Self.register(api, #"{"user_name":"a","password":"\#(long)"}"#).status == 201)
      #expect(try await Self.signIn(api, "a", String(long.dropLast()) + "e").status == 401)
      #expect(try await Self.signIn(api, "a", long).status == 201)
    }
  }

  @Test("a service without accounts has none of the routes, and accepts no token of an account")
  func off() async throws {
    try await RunningAPI.with { api in
      _ = try await api.createKey("t5-backend", [.tokens])
      let user = try await api.pool.transaction { session in
        try Accounts.register(Profile(userName: "ada"), password: PasswordHash(of: "correct horse"), session)
      }
      let token = try await api.token(of: user, minter: .account).header
      #expect(try await !Self.isValid(token, api))
      let valid = try UserClient.bearer(
        try await UserClient.send("POST", "/v1/users/\(user)/tokens", UserClient.backend, "{}", api))
      for (method, path, credential) in [
        ("POST", "/v1/accounts", []), ("POST", "/v1/sessions", []), ("POST", "/v1/sessions/refresh", []),
        ("PUT", "/v1/accounts/current/password", valid), ("PUT", "/v1/users/\(user)/password", UserClient.backend),
        ("POST", "/v1/accounts/current/verification", valid), ("POST", "/v1/password-resets", []),
        ("PUT", "/v1/accounts/current/verification", valid), ("PUT", "/v1/password-resets", []),
      ] {
        let response = try await UserClient.send(method, path, credential, Self.ada, api)
        #expect(response.status == 404 && UserClient.kind(response) == "accounts_off", "\(method) \(path)")
      }
    }
  }

  @Test("with accounts every request needs a credential, even before the first API key")
  func closed() async throws {
    var setting = RunningAPI.Setting()
    setting.passwords = try PasswordWork()
    try await RunningAPI.with(setting) { api in
      let anonymous = try await api.get("/v1/posts")
      #expect(anonymous.status == 401)
      #expect(try await Self.register(api).status == 201)
    }
  }

  @Test("attempts are limited for a name, whether it exists or not, and for an address")
  func limits() async throws {
    var limits = RateLimits.Configuration()
    limits.attemptsOfName = .init(perMinute: 1, burst: 2)
    try await Self.with(limits) { api in
      #expect(try await Self.register(api).status == 201)
      for name in ["ada", "bob"] {
        for _ in 0..<2 { #expect(try await Self.signIn(api, name, "wrong horse").status == 401) }
        // The right password does not help: its user has to wait as well.
        let refused = try await Self.signIn(api, name.uppercased())
        #expect(refused.status == 429 && UserClient.kind(refused) == "too_many_requests")
        #expect(refused.headers["retry-after"].flatMap { Int($0) }.map { 1...60 ~= $0 } == true)
      }
      #expect(try await Self.signIn(api, "eve").status == 401)
    }
    limits = .init()
    limits.attemptsOfAddress = .init(perMinute: 1, burst: 2)
    try await Self.with(limits) { api in
      let registered = try await Self.register(api)
      #expect(registered.status == 201)
      #expect(try await Self.signIn(api).status == 201)
      #expect(try await Self.signIn(api, "bob").status == 429)
      #expect(try await Self.register(api, #"{"user_name":"bob","password":"correct horse"}"#).status == 429)
    }
    // A guess of the former password is an attempt too.
    limits = .init()
    limits.attemptsOfName = .init(perMinute: 1, burst: 1)
    try await Self.with(limits) { api in
      let token = try UserClient.bearer(try await Self.register(api))
      let body = #"{"former_password":"wrong horse","password":"battery staple"}"#
      var statuses: [Int] = []
      for _ in 0..<2 {
        statuses.append(
          try await UserClient.send("PUT", "/v1/accounts/current/password", token, body, api).status)
      }
      #expect(statuses == [403, 429])
    }
  }

  @Test("a client that finds too many passwords in work gets 503 with Retry-After")
  func overloaded() async throws {
    try await Self.with(passwords: PasswordWork(max: 0)) { api in
      for response in [try await Self.register(api), try await Self.signIn(api)] {
        #expect(response.status == 503 && UserClient.kind(response) == "overloaded")
        #expect(response.headers["retry-after"] != nil)
      }
    }
  }

  /// Counts the calls that run at the same time.
  private final class Running: Sendable {
    private let count = Locked((now: 0, most: 0))

    var most: Int { count.withLock { $0.most } }

    func during<Value>(_ body: () -> Value) -> Value {
      count.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { count.withLock { $0.now -= 1 } }
      return body()
    }
  }

  @Test("as many passwords are hashed at a time as there are threads for them, and each that is done leaves its place")
  func threads() async throws {
    let (passwords, running) = (try PasswordWork(max: 80), Running())
    for _ in 0..<4 {
      await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            let hash = try? await passwords.run(for: Self.client) {
              running.during { PasswordHash(of: "correct horse") }
            }
            #expect(hash != nil)
          }
        }
      }
    }
    #expect(1...PasswordWork.threads ~= running.most)
  }

  private static let client = IPAddress("192.0.2.1")!

  private static func kind(_ problem: Problem?) -> String? { problem?.type.split(separator: ":").last.map(String.init) }

  @Test(
    "of the line one address has a tenth; who finds no room learns how long it is, and the line is empty at its end")
  func line() async throws {
    let passwords = try PasswordWork(max: 30)
    let gate = Channel<Bool>(capacity: 100)
    func refusal(of client: IPAddress) async -> Problem? {
      do throws(Problem) {
        _ = try await passwords.run(for: client) { true }
        return nil
      } catch {
        return error
      }
    }
    for _ in 0..<2 {
      try await withThrowingTaskGroup { group in
        let started = Shared(0)
        for number in 0..<10 {
          let client = try #require(IPAddress("2001:db8:0:\(number)::\(number + 1)"))
          for _ in 0..<3 {
            group.addTask {
              started.withLock { $0 += 1 }
              _ = try await passwords.run(for: client) { gate.take() }
            }
          }
        }
        try await until { started.withLock { $0 == 30 } && passwords.count == 30 }
        // Another address of the same network.
        let own = await refusal(of: try #require(IPAddress("2001:db8:0:3::ffff")))
        let other = await refusal(of: Self.client)
        #expect(Self.kind(own) == "overloaded" && Self.kind(other) == "overloaded")
        for _ in 0..<3 { _ = gate.put(true) }
        try await until { passwords.count == 27 }
        for _ in 0..<27 { _ = gate.put(true) }
        try await group.waitForAll()
      }
      #expect(passwords.count == 0)
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<3 { group.addTask { _ = try await passwords.run(for: Self.client) { gate.take() } } }
      try await until { passwords.count == 3 }
      let refused = await refusal(of: Self.client)
      #expect(Self.kind(refused) == "too_many_requests" && refused?.headers["retry-after"] != nil)
      let other = try #require(IPAddress("192.0.2.2"))
      group.addTask { _ = try await passwords.run(for: other) { gate.take() } }
      try await until { passwords.count == 4 }
      for _ in 0..<4 { _ = gate.put(true) }
      try await group.waitForAll()
    }
  }
}
