import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

/// Addresses that are verified, and passwords that are reset, by codes.
@Suite("Verified addresses", .tags(.database, .network), .timeLimit(.minutes(60)))
struct VerifiedEmailTests {
  private static let verification = "/v1/accounts/current/verification"

  private static func register(_ name: String, _ email: String, _ api: RunningAPI) async throws -> [(String, String)] {
    try UserClient.bearer(
      try await AccountTests.register(
        api, #"{"user_name":"\#(name)","password":"correct horse","email":"\#(email)"}"#))
  }

  /// The code of the last message to a user, which only webhooks receive.
  private static func code(_ kind: UserEvent.Kind, _ name: String, _ api: RunningAPI) async throws -> String {
    try await api.makeRequestedCodes()
    return try await api.pool.run { session in
      let row = try session.execute(
        """
        SELECT data ->> 'code' AS code FROM user_event
        WHERE kind = $1 AND data ->> 'user_name' = $2 ORDER BY created_at DESC LIMIT 1
        """, .text(kind.rawValue), .text(name)
      ).single()
      return try row.get("code")
    }
  }

  private static func verify(_ name: String, _ token: [(String, String)], _ api: RunningAPI) async throws
    -> ClientResponse
  {
    #expect(try await UserClient.send("POST", verification, token, nil, api).status == 202)
    let code = try await code(.verificationRequested, name, api)
    return try await UserClient.send("PUT", verification, token, #"{"code":"\#(code)"}"#, api)
  }

  private static func reset(
    _ account: String, _ code: String, _ api: RunningAPI, to password: String = "battery staple"
  ) async throws -> ClientResponse {
    try await UserClient.send(
      "PUT", "/v1/password-resets", [], #"{\#(account),"code":"\#(code)","password":"\#(password)"}"#, api)
  }

  private static func signIn(_ email: String, _ password: String, _ api: RunningAPI) async throws -> Int {
    try await UserClient.send(
      "POST", "/v1/sessions", [], #"{"email":"\#(email)","password":"\#(password)"}"#, api
    ).status
  }

  /// Another code may be sent at once.
  private static func forgetPause(_ api: RunningAPI) async throws {
    try await api.execute("UPDATE one_time_code SET created_at = created_at - interval '301 seconds'")
    try await api.execute("UPDATE mail_count SET asked_at = '{}'")
  }

  @Test(
    "a token alone changes no address, to which a thief would have the password reset, and a code dies with its address"
  )
  func theft() async throws {
    try await AccountTests.with { api in
      let ada = try await Self.register("ada", "ada@example.org", api)
      func patch(_ fields: String) async throws -> ClientResponse {
        try await UserClient.send("PATCH", "/v1/users/me", ada, "{\(fields)}", api)
      }
      let refused = try await patch(#""email":"evil@example.org""#)
      #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == "former_password")
      #expect(try await patch(#""email":null"#).status == 400)
      let wrong = try await patch(#""email":"evil@example.org","former_password":"wrong horse""#)
      #expect(UserClient.kind(wrong) == "wrong_password")
      #expect(try await patch(#""email":"ADA@example.org","bio":"x""#).status == 200)
      #expect(try await UserClient.send("POST", Self.verification, ada, nil, api).status == 202)
      let code = try await Self.code(.verificationRequested, "ada", api)
      for email in ["eve@example.org", "ada@example.org"] {
        #expect(try await patch(#""email":"\#(email)","former_password":"correct horse""#).status == 200)
      }
      let late = try await UserClient.send("PUT", Self.verification, ada, #"{"code":"\#(code)"}"#, api)
      #expect(UserClient.kind(late) == "code_invalid")
    }
  }

  @Test("a user signs in with an address once it is verified, until it is changed in more than the case of its letters")
  func life() async throws {
    try await AccountTests.with { api in
      let ada = try await Self.register("ada", "Ada@Example.org", api)
      let id = try #require(try await AccountTests.signIn(api).json["user"].text)
      func profile(_ credential: [(String, String)]) async throws -> JSONValue {
        try await api.get("/v1/users/\(id)", headers: credential).json["email_verified"]
      }
      #expect(try await Self.signIn("ada@example.org", "correct horse", api) == 401)
      #expect(try await profile(ada) == .boolean(false))
      let tag = try await api.get("/v1/users/\(id)", headers: ada).headers["etag"]
      #expect(try await Self.verify("ada", ada, api).status == 204)
      #expect(try await profile(ada) == .boolean(true))
      #expect(try await api.get("/v1/users/\(id)", headers: ada).headers["etag"] != tag)
      #expect(try await profile(Self.register("bob", "bob@example.org", api)) == .null)
      #expect(try await Self.signIn("ADA@example.ORG", "correct horse", api) == 201)
      #expect(try await Self.signIn("ada@example.org", "wrong horse", api) == 401)
      for (email, isVerified) in [("ada@example.org", true), ("ada@example.com", false), ("ada@example.org", false)] {
        let changed = try await UserClient.send(
          "PATCH", "/v1/users/\(id)", ada, #"{"email":"\#(email)","former_password":"correct horse"}"#, api)
        #expect(changed.json["email_verified"] == .boolean(isVerified), "\(email)")
        #expect(try await Self.signIn(email, "correct horse", api) == (isVerified ? 201 : 401))
      }
      #expect(
        try await UserClient.send(
          "PATCH", "/v1/users/\(id)", ada, #"{"email":null,"former_password":"correct horse"}"#, api
        ).status == 200)
    }
  }

  @Test(
    "who guesses a code closes it for that address alone, and when no attempts are left another one replaces it at once"
  )
  func strangers() async throws {
    var setting = RunningAPI.Setting()
    setting.passwords = try PasswordWork()
    setting.server.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
    try await RunningAPI.with(setting) { api in
      _ = try await Self.register("ada", "ada@example.org", api)
      func reset(_ code: String, from address: String) async throws -> String {
        let response = try await UserClient.send(
          "PUT", "/v1/password-resets", [("X-Forwarded-For", address)],
          #"{"user_name":"ada","code":"\#(code)","password":"battery staple"}"#, api)
        return response.status == 204 ? "reset" : UserClient.kind(response) ?? "\(response.status)"
      }
      func ask() async throws -> String {
        // Not what is tested: how many mails an address gets.
        try await api.execute("UPDATE mail_count SET asked_at = '{}'")
        #expect(
          try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"ada"}"#, api).status == 202)
        return try await Self.code(.passwordResetRequested, "ada", api)
      }
      var code = try await ask()
      for _ in 1...5 { #expect(try await reset("WRONG000", from: "198.51.100.1") == "code_invalid") }
      // The address is closed also for the right code, with those of its /64, and no other one is.
      #expect(try await reset(code, from: "198.51.100.1") == "code_invalid")
      for last in 1...5 { #expect(try await reset("WRONG000", from: "2001:db8::\(last)") == "code_invalid") }
      #expect(try await reset(code, from: "2001:db8::6") == "code_invalid")
      #expect(try await ask() == code)
      #expect(try await reset(code, from: "203.0.113.9") == "reset")

      // From all addresses a code has a hundred, and five others replace it in a day.
      var addresses = 0
      for replacement in 0...6 {
        let next = try await ask()
        #expect((next != code) == (replacement <= 5), "\(replacement)")
        code = next
        guard replacement < 6 else { break }
        for _ in 0..<20 {
          addresses += 1
          for _ in 1...5 {
            #expect(try await reset("WRONG000", from: "10.1.\(addresses / 250).\(addresses % 250)") == "code_invalid")
          }
        }
        #expect(try await reset(code, from: "203.0.113.9") == "code_invalid")
      }
      // The replacements are remembered longer than a code lives, and the pause holds.
      try await api.execute("UPDATE one_time_code SET created_at = created_at - interval '16 minutes'")
      _ = try await api.pool.run(OneTimeCode.dropExpired)
      let late = try await ask()
      #expect(late != code)
      #expect(try await reset(late, from: "203.0.113.9") == "reset")
    }
  }

  @Test("no scope but tokens becomes a user by the codes, nor by an address for them")
  func scopes() async throws {
    try await AccountTests.with { api in
      _ = try await Self.register("ada", "ada@example.org", api)
      let ada = try #require(try await AccountTests.signIn(api).json["user"].text)
      let hook = #""url":"https://hooks.example.org/1""#
      let codes = #""kinds":["like","password_reset_requested"]"#
      _ = try await api.createKey("t5-all", Set(Scope.allCases))
      let all = [("Authorization", "Bearer t5-all")]
      for kind in ["password_reset_requested", "account_verification_requested"] {
        let created = try await UserClient.send("POST", "/v1/webhooks", all, #"{\#(hook),"kinds":["\#(kind)"]}"#, api)
        #expect(created.status == 201)
      }
      let stored = try await UserClient.send("POST", "/v1/webhooks", all, "{\(hook),\(codes)}", api)
      let path = try #require(stored.headers["location"])
      let harmless = try #require(
        try await UserClient.send("POST", "/v1/webhooks", all, #"{\#(hook),"kinds":["like"]}"#, api).headers["location"]
      )
      _ = try await api.createKey("t5-rest", Set(Scope.allCases).subtracting([.tokens]))
      for scopes in Scope.allCases.filter({ $0 != .tokens }).map({ [$0] }) + [[]] {
        let key = scopes.first.map { "t5-\($0.rawValue)" } ?? "t5-rest"
        if let scope = scopes.first { _ = try await api.createKey(key, [scope]) }
        let credential = [("Authorization", "Bearer \(key)")]
        for (method, path, body) in [
          ("POST", "/v1/webhooks", "{\(hook),\(codes)}"),
          ("POST", "/v1/webhooks", #"{\#(hook),"kinds":["account_verification_requested"]}"#),
          ("PATCH", path, "{\(hook)}"), ("PATCH", path, #"{"state":"disabled"}"#), ("POST", path + "/secret", nil),
          ("PATCH", harmless, "{\(codes)}"),
          ("PATCH", "/v1/users/\(ada)", #"{"email":"eve@example.org"}"#),
          ("POST", "/v1/users/\(ada)/tokens", "{}"),
          ("PUT", "/v1/users/\(ada)/password", #"{"password":"battery staple"}"#),
        ] as [(String, String, String?)] {
          let response = try await UserClient.send(method, path, credential, body, api)
          #expect(response.status == 403, "\(key) \(method) \(path) \(response.text)")
        }
      }
      // What has no codes needs the one scope, and so does a profile that keeps its address.
      let rest = [("Authorization", "Bearer t5-rest")]
      #expect(try await UserClient.send("POST", harmless + "/secret", rest, nil, api).status == 200)
      #expect(
        try await UserClient.send(
          "PATCH", "/v1/users/\(ada)", rest, #"{"email":"ADA@example.org","bio":"x"}"#, api
        ).status == 200)
      #expect(
        try await UserClient.send("PATCH", "/v1/users/\(ada)", all, #"{"email":"new@example.org"}"#, api).status == 200)
    }
  }

  @Test("a back-end finds the user of a verified address, and no one else does")
  func search() async throws {
    try await AccountTests.with { api in
      _ = try await api.createKey("t5-finder", [.read, .tokens])
      _ = try await api.createKey("t5-reader", [.read])
      let ada = try await Self.register("ada", "ada@example.org", api)
      let finder = [("Authorization", "Bearer t5-finder")]
      let path = "/v1/users?email=ADA@example.org"
      #expect(try await api.get(path, headers: finder).json["items"].elements.isEmpty)
      #expect(try await Self.verify("ada", ada, api).status == 204)
      let found = try await api.get(path, headers: finder).json["items"].elements
      #expect(found.map { $0["user_name"].text } == ["ada"])
      for credential in [ada, [("Authorization", "Bearer t5-reader")], finder + [("Take5-User", "ada")]] {
        #expect(try await api.get(path, headers: credential).status == 403)
      }
      #expect(try await api.get("\(path)&query=ada", headers: finder).status == 400)
    }
  }

  @Test("an address that is verified has one user, in any case")
  func unique() async throws {
    try await AccountTests.with { api in
      let (ada, bob) = (
        try await Self.register("ada", "ada@example.org", api), try await Self.register("bob", "ADA@example.org", api)
      )
      #expect(try await Self.verify("ada", ada, api).status == 204)
      let taken = try await Self.verify("bob", bob, api)
      #expect(taken.status == 409 && UserClient.kind(taken) == "email_taken")
      try await api.execute("UPDATE mail_count SET asked_at = '{}'")
      // The code shows that Bob reads the mail, which resets his password, and the address stays Ada's.
      #expect(
        try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"bob"}"#, api).status == 202)
      let code = try await Self.code(.passwordResetRequested, "bob", api)
      #expect(try await Self.reset(#""user_name":"bob""#, code, api).status == 204)
      #expect(try await Self.signIn("ada@example.org", "battery staple", api) == 401)
      #expect(try await Self.signIn("ada@example.org", "correct horse", api) == 201)
      #expect(try await AccountTests.signIn(api, "bob", "battery staple").status == 201)
    }
  }

  @Test("a code resets the password once, ends the sessions and verifies the address")
  func reset() async throws {
    try await AccountTests.with { api in
      let ada = try await Self.register("ada", "ada@example.org", api)
      let request = #"{"user_name":"ada"}"#
      #expect(try await UserClient.send("POST", "/v1/password-resets", [], request, api).status == 202)
      let code = try await Self.code(.passwordResetRequested, "ada", api)
      let name = #""user_name":"ADA""#
      let short = try await Self.reset(name, code, api, to: "short")
      #expect(short.status == 400)
      // As people type it.
      let typed = "\(code.prefix(4))-\(code.suffix(4))".lowercased().replacing("0", with: "o").replacing("1", with: "l")
      #expect(try await Self.reset(name, typed, api).status == 204)
      #expect(try await !AccountTests.isValid(ada, api))
      #expect(try await AccountTests.signIn(api).status == 401)
      #expect(try await Self.signIn("ada@example.org", "battery staple", api) == 201)
      let again = try await Self.reset(name, code, api, to: "wrong horse")
      #expect(again.status == 403 && UserClient.kind(again) == "code_invalid")
      // By the address, which is verified now.
      try await Self.forgetPause(api)
      let byEmail = #"{"email":"ada@EXAMPLE.org"}"#
      #expect(try await UserClient.send("POST", "/v1/password-resets", [], byEmail, api).status == 202)
      let second = try await Self.code(.passwordResetRequested, "ada", api)
      #expect(second != code)
      #expect(try await Self.reset(#""email":"ada@example.org""#, second, api, to: "another horse").status == 204)
      #expect(try await AccountTests.signIn(api, "ada", "another horse").status == 201)
    }
  }

  @Test("a code cannot be guessed: the right one does not help after five wrong ones, nor after a quarter of an hour")
  func guesses() async throws {
    try await AccountTests.with { api in
      let ada = try await Self.register("ada", "ada@example.org", api)
      let name = #""user_name":"ada""#
      func request() async throws -> String {
        try await Self.forgetPause(api)
        #expect(
          try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"ada"}"#, api).status == 202)
        return try await Self.code(.passwordResetRequested, "ada", api)
      }
      var code = try await request()
      for _ in 0..<5 {
        let wrong = try await Self.reset(name, "WRONG777", api)
        let unknown = try await Self.reset(#""user_name":"unknown""#, "WRONG777", api)
        #expect(wrong.status == 403 && wrong.body == unknown.body)
      }
      // A request for another code within the pause does not give further attempts.
      #expect(try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"ada"}"#, api).status == 202)
      #expect(try await Self.reset(name, code, api).status == 403)
      code = try await request()
      try await api.execute("UPDATE one_time_code SET created_at = created_at - interval '901 seconds'")
      #expect(try await UserClient.kind(Self.reset(name, code, api)) == "code_invalid")
      #expect(try await AccountTests.signIn(api).status == 201)
      // A code for one purpose is none for the other, and one for a former address is none.
      #expect(try await UserClient.send("POST", Self.verification, ada, nil, api).status == 202)
      let verification = try await Self.code(.verificationRequested, "ada", api)
      #expect(try await Self.reset(name, verification, api).status == 403)
      let id = try #require(try await AccountTests.signIn(api).json["user"].text)
      #expect(
        try await UserClient.send(
          "PATCH", "/v1/users/\(id)", ada, #"{"email":"eve@example.org","former_password":"correct horse"}"#, api
        ).status == 200)
      let former = try await UserClient.send("PUT", Self.verification, ada, #"{"code":"\#(verification)"}"#, api)
      #expect(former.status == 403 && UserClient.kind(former) == "code_invalid")
    }
  }

  @Test("attempts with codes count for the name and for the address of the client, as attempts to sign in do")
  func limits() async throws {
    var limits = RateLimits.Configuration()
    limits.attemptsOfName = .init(perMinute: 1, burst: 2)
    try await AccountTests.with(limits) { api in
      for name in [#""user_name":"unknown""#, #""email":"unknown@example.org""#] {
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await Self.reset(name, "WRONG777", api).status) }
        #expect(statuses == [403, 403, 429])
      }
    }
    limits = .init()
    limits.attemptsOfAddress = .init(perMinute: 1, burst: 2)
    try await AccountTests.with(limits) { api in
      for index in 0..<3 {
        let status = try await Self.reset(#""user_name":"u\#(index)""#, "WRONG777", api).status
        #expect(status == (index < 2 ? 403 : 429))
      }
    }
  }

  @Test("of two requests with one code at once one resets the password")
  func race() async throws {
    try await AccountTests.with { api in
      _ = try await Self.register("ada", "ada@example.org", api)
      #expect(try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"ada"}"#, api).status == 202)
      let code = try await Self.code(.passwordResetRequested, "ada", api)
      async let first = Self.reset(#""user_name":"ada""#, code, api, to: "first horse").status
      async let second = Self.reset(#""user_name":"ada""#, code, api, to: "second horse").status
      #expect(try await [first, second].sorted() == [204, 403])
    }
  }
}
