import Crypto
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

/// Changes of an account, and what they end.
@Suite("Changes of accounts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AccountChangeTests {
  @Test("a user changes the password with the former one, and only the token of the request stays valid")
  func change() async throws {
    try await AccountTests.with { api in
      let current = try UserClient.bearer(try await AccountTests.register(api))
      let other = try UserClient.bearer(try await AccountTests.signIn(api))
      let path = "/v1/accounts/current/password"
      let body = #"{"former_password":"correct horse","password":"battery staple"}"#
      let wrong = try await UserClient.send("PUT", path, current, body.replacing("correct", with: "Correct"), api)
      #expect(wrong.status == 403 && UserClient.kind(wrong) == "wrong_password")
      #expect(try await AccountTests.isValid(other, api))
      #expect(try await UserClient.send("PUT", path, current, body, api).status == 204)
      #expect(try await AccountTests.isValid(current, api))
      #expect(try await !AccountTests.isValid(other, api))
      #expect(try await AccountTests.signIn(api).status == 401)
      #expect(try await AccountTests.signIn(api, "ada", "battery staple").status == 201)
      // The former password of the second request is no longer the account's.
      #expect(try await UserClient.send("PUT", path, current, body, api).status == 403)
    }
  }

  @Test("a back-end sets another password, and all tokens of the user are revoked")
  func reset() async throws {
    try await AccountTests.with { api in
      let registered = try await AccountTests.register(api)
      let token = try UserClient.bearer(registered)
      let user = try #require(registered.json["user"].text)
      let body = #"{"password":"battery staple"}"#
      #expect(try await AccountTests.isValid(token, api))
      #expect(
        try await UserClient.send("PUT", "/v1/users/\(user)/password", UserClient.backend, body, api).status == 204)
      #expect(try await !AccountTests.isValid(token, api))
      #expect(try await AccountTests.signIn(api).status == 401)
      #expect(try await AccountTests.signIn(api, "ada", "battery staple").status == 201)
      let missing = try await UserClient.send("PUT", "/v1/users/bob/password", UserClient.backend, body, api)
      #expect(missing.status == 404 && UserClient.kind(missing) == "account_not_found")
      // A user cannot do without the former password.
      let own = try UserClient.bearer(try await AccountTests.signIn(api, "ada", "battery staple"))
      #expect(try await UserClient.send("PUT", "/v1/users/\(user)/password", own, body, api).status == 403)
    }
  }

  @Test("a user of a disabled account is out, and enabling it gives no token back")
  func disabled() async throws {
    try await AccountTests.with { api in
      let registered = try await AccountTests.register(api)
      let token = try UserClient.bearer(registered)
      let user = try #require(registered.json["user"].text)
      _ = try await api.pool.run { try Accounts.setDisabled(true, of: user, $0) }
      #expect(try await !AccountTests.isValid(token, api))
      let right = try await AccountTests.signIn(api)
      #expect(right.status == 403 && UserClient.kind(right) == "account_disabled")
      // Without the password, the account does not differ from one that does not exist.
      #expect(try await AccountTests.signIn(api, "ada", "wrong horse").status == 401)
      _ = try await api.pool.run { try Accounts.setDisabled(false, of: user, $0) }
      #expect(try await !AccountTests.isValid(token, api))
      #expect(try await AccountTests.signIn(api).status == 201)
    }
  }

  @Test("a sign-in that was verified before a change of the account gets no token")
  func races() async throws {
    try await AccountTests.with { api in
      let user = try #require(try await AccountTests.register(api).json["user"].text)
      func signIn(_ account: Account) async throws -> UserToken? {
        try await api.pool.transaction { session in
          try Accounts.signIn(account, hash: SHA256.digest(of: Array("\(PublicID.now())".utf8)), lifetime: 60, session)
        }
      }
      func read() async throws -> Account {
        try #require(try await api.pool.run { try Accounts.find(of: user, $0) })
      }
      let before = try await read()
      #expect(try await signIn(before) != nil)
      _ = try await api.pool.run { try Accounts.setPassword(of: user, PasswordHash(of: "battery staple"), $0) }
      #expect(try await signIn(before) == nil)
      let changed = try await read()
      _ = try await api.pool.run { try Accounts.setDisabled(true, of: user, $0) }
      #expect(try await signIn(changed) == nil)
    }
  }

  @Test("a token with an upload grant, and one of a user without an account, change no password")
  func foreignTokens() async throws {
    try await AccountTests.with { api in
      let key = try await api.createKey("t5-minter", [.tokens])
      let body = #"{"former_password":"correct horse","password":"battery staple"}"#
      let grant = try await api.token(
        of: "ada", minter: .key(key), grant: UploadGrant(kinds: [.photo], bytes: 10)
      ).header
      let token = try await api.token(of: "ada", minter: .key(key)).header
      let path = "/v1/accounts/current/password"
      #expect(UserClient.kind(try await UserClient.send("PUT", path, grant, body, api)) == "not_granted")
      #expect(UserClient.kind(try await UserClient.send("PUT", path, token, body, api)) == "account_not_found")
      #expect(try await UserClient.send("PUT", path, UserClient.backend, body, api).status == 403)
    }
  }
}
