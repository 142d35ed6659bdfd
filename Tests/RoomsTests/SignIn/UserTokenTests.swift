import Crypto
import FoundationEssentials
import HTTPTesting
import Model
import Platform
import Postgres
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

@Suite("User tokens", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UserTokenTests {
  @Test("a token is shown once, listed without its text, and invalid as soon as it is revoked")
  func life() async throws {
    try await UserClient.with { api in
      let minted = try await UserClient.send(
        "POST", "/v1/users/ada/tokens", UserClient.backend, #"{"expires_in":60}"#, api)
      #expect(minted.status == 201)
      #expect(minted.headers["cache-control"] == "no-store")
      #expect(minted.json["token"].text?.hasPrefix("t5u_") == true)
      #expect(minted.json["user"] == .string("ada"))
      let token = try UserClient.bearer(minted)
      #expect(try await UserClient.send("GET", "/v1/posts", token, nil, api).status == 200)
      let list = try await UserClient.send("GET", "/v1/users/ada/tokens", UserClient.backend, nil, api)
      #expect(list.json["items"].elements.map { $0["id"] } == [minted.json["id"]])
      #expect(list.json["items"][0].names == ["id", "user", "created_at", "expires_at", "grant", "used_at"])
      let path = "/v1/users/ada/tokens/\(minted.json["id"].text ?? "")"
      #expect(
        try await UserClient.send("DELETE", path.replacing("ada", with: "bob"), UserClient.backend, nil, api).status
          == 404)
      #expect(try await UserClient.send("DELETE", path, UserClient.backend, nil, api).status == 204)
      let refused = try await UserClient.send("GET", "/v1/posts", token, nil, api)
      #expect(refused.status == 401 && !refused.text.contains("t5u_"))
      let again = try await UserClient.send("DELETE", path, UserClient.backend, nil, api)
      #expect(again.status == 404 && UserClient.kind(again) == "token_not_found")
    }
  }

  @Test("a token revokes itself, and a back-end all tokens of a user")
  func revocations() async throws {
    try await UserClient.with { api in
      var tokens: [[(String, String)]] = []
      for user in ["ada", "ada", "bob"] {
        tokens.append(
          try UserClient.bearer(
            try await UserClient.send("POST", "/v1/users/\(user)/tokens", UserClient.backend, "{}", api)))
        #expect(try await UserClient.send("GET", "/v1/posts", tokens[tokens.count - 1], nil, api).status == 200)
      }
      func statuses() async throws -> [Int] {
        var statuses: [Int] = []
        for token in tokens { statuses.append(try await UserClient.send("GET", "/v1/posts", token, nil, api).status) }
        return statuses
      }
      #expect(try await UserClient.send("DELETE", "/v1/tokens/current", tokens[0], nil, api).status == 204)
      #expect(try await statuses() == [401, 200, 200])
      #expect(try await UserClient.send("DELETE", "/v1/users/ada/tokens", UserClient.backend, nil, api).status == 204)
      #expect(try await statuses() == [401, 401, 200])
    }
  }

  @Test(
    "a request for a token with an invalid field names it",
    arguments: [
      (#"{"expires_in":0}"#, "expires_in"), (#"{"expires_in":34560001}"#, "expires_in"), (#"{"scopes":[]}"#, "scopes"),
      (#"{"grant":{"kinds":[],"bytes":1}}"#, "grant.kinds"),
      (#"{"grant":{"kinds":["comment"],"bytes":1}}"#, "grant.kinds"),
      (#"{"grant":{"kinds":["photo"]}}"#, "grant.bytes"), (#"{"grant":{"bytes":1}}"#, "grant.kinds"),
    ])
  func invalidDrafts(body: String, field: String) async throws {
    try await UserClient.with { api in
      let response = try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, body, api)
      #expect(response.status == 400)
      #expect(response.json["errors"].elements.map { $0["field"] } == [.string(field)])
    }
  }

  @Test("the requests of a token do not count for the API key that minted it")
  func rateLimits() async throws {
    var setting = RunningAPI.Setting()
    setting.limits.requestsPerMinute = 3
    try await RunningAPI.with(setting) { api in
      let key = try await api.createKey("t5-backend", [.read])
      let token = try await api.token(of: "ada", minter: .key(key)).header
      var statuses: [Int] = []
      for _ in 0..<4 { statuses.append(try await UserClient.send("GET", "/v1/posts", token, nil, api).status) }
      #expect(statuses == [200, 200, 200, 429])
      #expect(try await UserClient.send("GET", "/v1/posts", UserClient.backend, nil, api).status == 200)
    }
  }

  private static let client = IPAddress("127.0.0.1")!

  private static func access(_ tokens: UserTokenCache) -> AccessControl {
    AccessControl(
      operatorKey: "k1", isLoopback: true, limits: RateLimits(.init(), now: { 0 }), tokens: tokens, now: { 0 })
  }

  private static func head(_ token: String) throws -> RequestHead {
    RequestHead(
      method: "GET", target: try #require(RequestTarget("/v1/posts")), version: .http11,
      headers: ["Authorization": "Bearer \(token)"], framing: .none)
  }

  @Test("a token that the database cannot confirm gets 503, and an API key does not wait for the database")
  func outage() async throws {
    let access = Self.access(
      UserTokenCache { _ in throw PostgresError(.unavailable, "the connection was refused") })
    guard case .pending(let admit) = try access.admit(Self.head("t5u_1"), from: Self.client, to: .key([.read])) else {
      Issue.record("the token is not looked up")
      return
    }
    let refused = await #expect(throws: Problem.self) { try await admit() }
    #expect(refused?.status == .serviceUnavailable)
    guard case .known = try access.admit(Self.head("k1"), from: Self.client, to: .key([.read])) else {
      Issue.record("an API key waits for the database")
      return
    }
  }

  @Test("a token is read once within the lifetime of the cache, and again after it was forgotten")
  func cache() async throws {
    let reads = Locked(0)
    let stored = UserToken(
      id: .now(), user: "ada", hash: [UInt8](repeating: 1, count: 32), minter: .operatorKey, grant: nil,
      createdAt: .now, expiresAt: .now, usedAt: nil)
    let cache = UserTokenCache { name in
      reads.withLock { $0 += 1 }
      return name == .id(stored.id) ? stored : nil
    }
    for _ in 0..<3 { #expect(try await cache.token(.id(stored.id)) == stored) }
    #expect(reads.withLock(\.self) == 1)
    cache.forget([stored.id])
    #expect(cache.cached(.id(stored.id)) == nil)
    // What does not exist is not kept: a token is valid as soon as it is minted.
    for _ in 0..<2 { #expect(try await cache.token(.id(.now())) == nil) }
    #expect(reads.withLock(\.self) == 3)
  }
}
