import Crypto
import HTTPTesting
import Model
import Postgres
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// Sessions that refresh tokens renew.
@Suite("Refresh tokens", .tags(.database, .network), .timeLimit(.minutes(60)))
struct RefreshTests {
  /// What a phone keeps.
  private struct Pair: Equatable {
    let access: String
    let refresh: String
    let id: String?

    init(_ response: ClientResponse) throws {
      #expect(response.status == 201, "\(response.text)")
      access = try #require(response.json["token"].text)
      refresh = try #require(response.json["refresh_token"].text)
      id = response.json["id"].text
    }

    var bearer: [(String, String)] { [("Authorization", "Bearer \(access)")] }
  }

  private static func signIn(_ api: RunningAPI, expiresIn: Int = 3600) async throws -> Pair {
    _ = try await AccountTests.register(api)
    return try Pair(
      try await UserClient.send(
        "POST", "/v1/sessions", [],
        #"{"user_name":"ada","password":"correct horse","refresh":true,"expires_in":\#(expiresIn)}"#, api))
  }

  private static func renew(_ pair: Pair, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("POST", "/v1/sessions/refresh", [], #"{"refresh_token":"\#(pair.refresh)"}"#, api)
  }

  /// Waits until the database knows of so many access tokens that a request has come with them.
  private static func usesAreNoted(_ count: Int, _ api: RunningAPI) async throws {
    try await until("the uses are noted") {
      try await api.pool.run { session in
        try session.execute("SELECT count(*) FROM access_token WHERE is_used").single().get(0, as: Int.self)
      } == count
    }
  }

  private static func passGrace(_ api: RunningAPI) async throws {
    try await api.execute("UPDATE renewable_session SET renewed_at = renewed_at - interval '31 seconds'")
  }

  @Test(
    "each refresh token gives the next tokens of the same session, which stays one in the list and in its media URLs")
  func rotation() async throws {
    try await AccountTests.with { api in
      let first = try await Self.signIn(api)
      let second = try Pair(await Self.renew(first, api))
      let third = try Pair(await Self.renew(second, api))
      #expect(Set([first, second, third].flatMap { [$0.access, $0.refresh] }).count == 6)
      #expect(Set([first, second, third].map(\.id)).count == 1)
      // The first access token is neither the newest nor the one before.
      #expect(try await !AccountTests.isValid(first.bearer, api))
      for pair in [second, third] { #expect(try await AccountTests.isValid(pair.bearer, api)) }
      let sessions = try await api.get("/v1/users/me/sessions", headers: third.bearer).json["items"].elements
      #expect(sessions.count == 2 && sessions[0]["id"].text == third.id && sessions[0]["current"] == .boolean(true))
      #expect(sessions[0]["used_at"] != .null)
      let stored: String = try await api.pool.run { session in
        try session.execute(
          "SELECT (SELECT string_agg(s::text, '') FROM renewable_session s) || (SELECT string_agg(a::text, '') FROM access_token a)"
        ).single().get(0)
      }
      for secret in [third.access, third.refresh].map({ Array($0.utf8) }) {
        #expect(!stored.contains(String(decoding: secret.dropFirst(4), as: UTF8.self)))
      }
      #expect(stored.contains(SHA256.digest(of: Array(third.refresh.utf8)).hex))
      #expect(try await UserClient.send("DELETE", "/v1/tokens/current", third.bearer, nil, api).status == 204)
      #expect(try await UserClient.kind(Self.renew(third, api)) == "session_ended")
      #expect(try await !AccountTests.isValid(second.bearer, api))
    }
  }

  @Test("a refresh token that a thief uses again ends the session with all of its tokens, and no other one")
  func thief() async throws {
    try await AccountTests.with { api in
      let stolen = try await Self.signIn(api)
      let other = try UserClient.bearer(try await AccountTests.signIn(api))
      let own = try Pair(await Self.renew(stolen, api))
      try await Self.passGrace(api)
      for pair in [stolen, own] { #expect(try await AccountTests.isValid(pair.bearer, api)) }
      try await Self.usesAreNoted(2, api)
      let refused = try await Self.renew(stolen, api)
      #expect(refused.status == 401 && UserClient.kind(refused) == "session_ended")
      #expect(refused.headers["www-authenticate"] != nil)
      for pair in [stolen, own] {
        #expect(try await !AccountTests.isValid(pair.bearer, api))
        #expect(try await Self.renew(pair, api).status == 401)
      }
      #expect(try await AccountTests.isValid(other, api))
    }
  }

  @Test(
    "a thief who is first is found out by the next request of the phone, and one within the grace by the next renewal")
  func quickThief() async throws {
    try await AccountTests.with { api in
      let stolen = try await Self.signIn(api)
      let thiefs = try Pair(await Self.renew(stolen, api))
      try await Self.passGrace(api)
      let phones = try Pair(await Self.renew(stolen, api))
      #expect(thiefs == phones)
      let next = try Pair(await Self.renew(phones, api))
      try await Self.passGrace(api)
      #expect(try await AccountTests.isValid(next.bearer, api))
      try await Self.usesAreNoted(1, api)
      #expect(try await Self.renew(thiefs, api).status == 401)
      #expect(try await !AccountTests.isValid(next.bearer, api))
      #expect(try await Self.renew(next, api).status == 401)
    }
  }

  @Test("a phone that has lost the response, or has sent the request twice at once, gets the same tokens")
  func lostResponse() async throws {
    try await AccountTests.with { api in
      let first = try await Self.signIn(api)
      async let one = Self.renew(first, api)
      async let two = Self.renew(first, api)
      let (lost, repeated) = try await (Pair(one), Pair(two))
      #expect(lost == repeated)
      #expect(try await AccountTests.isValid(repeated.bearer, api))
      let next = try Pair(await Self.renew(repeated, api))
      // Once the next one was used, the first one is no repetition even within the grace.
      #expect(try await Self.renew(first, api).status == 401)
      #expect(try await !AccountTests.isValid(next.bearer, api))
    }
  }

  @Test(
    "a phone that was in a tunnel for longer than an access token lives gets the same tokens, and the access token lives"
  )
  func longTunnel() async throws {
    try await AccountTests.with { api in
      let first = try await Self.signIn(api)
      let lost = try Pair(await Self.renew(first, api))
      try await api.execute(
        """
        WITH session AS (UPDATE renewable_session SET renewed_at = renewed_at - interval '5 hours')
        UPDATE access_token SET expires_at = expires_at - interval '5 hours'
        """)
      let repeated = try Pair(await Self.renew(first, api))
      #expect(repeated == lost)
      #expect(try await AccountTests.isValid(repeated.bearer, api))
      try await Self.usesAreNoted(1, api)
      #expect(try await UserClient.kind(Self.renew(first, api)) == "session_ended")
    }
  }

  @Test("an access token expires, and the session with it neither after that nor before its end")
  func ends() async throws {
    try await AccountTests.with { api in
      let first = try await Self.signIn(api, expiresIn: 60)
      try await api.execute("UPDATE access_token SET expires_at = clock_timestamp()")
      #expect(try await !AccountTests.isValid(first.bearer, api))
      let second = try Pair(await Self.renew(first, api))
      #expect(try await AccountTests.isValid(second.bearer, api))
      try await api.execute("UPDATE renewable_session SET ends_at = clock_timestamp() + interval '1 minute'")
      let last = try await Self.renew(second, api)
      let ending = try await api.get("/v1/users/me/sessions", headers: try Pair(last).bearer).json["items"][0]
      #expect(ending["expires_at"] == last.json["expires_at"])
      try await api.execute("UPDATE user_token SET expires_at = clock_timestamp()")
      #expect(try await UserClient.kind(Self.renew(Pair(last), api)) == "session_ended")
    }
  }

  @Test("a user who is suspended, disabled or whose password is reset cannot renew a session")
  func refused() async throws {
    try await AccountTests.with { api in
      let pair = try await Self.signIn(api)
      let user = try #require(try await api.get("/v1/users/me", headers: pair.bearer).json["id"].text)
      try await api.execute("UPDATE account SET disabled_at = clock_timestamp()")
      #expect(try await Self.renew(pair, api).status == 401)
      try await api.execute("UPDATE account SET disabled_at = NULL")
      let next = try Pair(await Self.renew(pair, api))
      let reset = try await UserClient.send(
        "PUT", "/v1/users/\(user)/password", UserClient.backend, #"{"password":"battery staple"}"#, api)
      #expect(reset.status == 204)
      #expect(try await Self.renew(next, api).status == 401)
    }
  }

  @Test("neither a text that is no refresh token nor a part of one renews or ends a session, nor is it a bearer token")
  func guesses() async throws {
    try await AccountTests.with { api in
      let pair = try await Self.signIn(api)
      let zeros = String(repeating: "0", count: 64)
      for text in ["t5r_", pair.access, String(pair.refresh.dropLast()), "t5r_\(zeros)\(zeros)"] {
        let body = #"{"refresh_token":"\#(text)"}"#
        let refused = try await UserClient.send("POST", "/v1/sessions/refresh", [], body, api)
        #expect(refused.status == 401 && UserClient.kind(refused) == "session_ended")
      }
      for text in [pair.refresh, String(pair.refresh.prefix(68))] {
        #expect(try await !AccountTests.isValid([("Authorization", "Bearer \(text)")], api))
      }
      #expect(try await AccountTests.isValid(pair.bearer, api))
      #expect(try await Self.renew(pair, api).status == 201)
    }
  }
}
