import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Codes by mail", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OneTimeCodeTests {
  private static func with(_ body: (RunningAPI, [(String, String)]) async throws -> Void) async throws {
    var setting = RunningAPI.Setting()
    setting.passwords = try PasswordWork()
    try await RunningAPI.with(setting) { api in
      let ada = #"{"user_name":"ada","password":"correct horse","email":"ada@example.org"}"#
      try await body(api, try UserClient.bearer(try await UserClient.send("POST", "/v1/accounts", [], ada, api)))
    }
  }

  private static func request(_ name: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"\#(name)"}"#, api)
  }

  /// The data of the events with codes, as webhooks receive them.
  private static func codes(_ api: RunningAPI) async throws -> [[String: String]] {
    try await api.makeRequestedCodes()
    try await api.pool.transaction { _ = try Events.placeNext($0) }
    return try await api.pool.run { session in
      try Events.list(of: UserEvent.everyone, after: 0, limit: 10, session)
        .filter { EventKind($0.kind)?.isStreamed == false }.compactMap(\.data)
    }
  }

  @Test(
    "a request for a reset or a verification is an event with a code, at most one in five minutes, for an account with an address alone"
  )
  func requested() async throws {
    try await Self.with { api, token in
      for name in ["ada", "Ada", "unknown", "no/name"] { #expect(try await Self.request(name, api).status == 202) }
      let verification = try await UserClient.send("POST", "/v1/accounts/current/verification", token, "{}", api)
      #expect(verification.status == 202 && verification.text.isEmpty)
      let codes = try await Self.codes(api)
      #expect(codes.map { $0["email"] } == ["ada@example.org", "ada@example.org"])
      #expect(Set(codes.compactMap { $0["code"] }).count == 2)
      #expect(codes.allSatisfy { $0["code"]?.utf8.count == 8 && $0["user_name"] == "ada" })
    }
  }

  @Test("no stream has a code, no row has it after a quarter of an hour, and the table has its hash alone")
  func secret() async throws {
    try await Self.with { api, token in
      #expect(try await Self.request("ada", api).status == 202)
      let code = try #require(try await Self.codes(api).first?["code"])
      try await api.pool.transaction { session in
        try Store.notify("ada", of: .like, by: "bob", session)
        _ = try Events.placeNext(session)
      }
      _ = try await api.createKey("t5-back-end", [.read, .events])
      let events = try await api.events(
        1, of: nil, after: "0-0", with: [("Authorization", "Bearer t5-back-end")])
      #expect(events.map(\.name) == ["like"])
      let stored: String = try await api.pool.run { session in
        try session.execute("SELECT string_agg(code::text, '') FROM one_time_code AS code").single().get(0)
      }
      #expect(!stored.contains(code) && stored.contains("ada@example.org"))
      try await api.pool.run { session in
        try session.execute("UPDATE user_event SET created_at = created_at - interval '16 minutes'")
        try session.execute("UPDATE one_time_code SET created_at = created_at - interval '16 minutes'")
        #expect(try OneTimeCode.dropExpired(session) == 1)
      }
      #expect(try await Self.codes(api).isEmpty)
    }
  }

  @Test("a user without an address, and a token that permits one submission, get no code")
  func refused() async throws {
    try await Self.with { api, _ in
      let bob = #"{"user_name":"bob","password":"correct horse"}"#
      let token = try UserClient.bearer(try await UserClient.send("POST", "/v1/accounts", [], bob, api))
      let response = try await UserClient.send("POST", "/v1/accounts/current/verification", token, "{}", api)
      #expect(response.status == 409 && UserClient.kind(response) == "email_missing")
      #expect(try await Self.request("bob", api).status == 202)
      #expect(try await Self.codes(api).isEmpty)
    }
  }
}
