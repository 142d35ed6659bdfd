import HTTPTesting
import Model
import PostgresTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// What a user sees of the own sessions, and how they end.
@Suite("Sessions", .tags(.database, .network), .timeLimit(.minutes(60)))
struct SessionTests {
  private static func signIn(_ device: String, _ api: RunningAPI) async throws -> [(String, String)] {
    let body = #"{"user_name":"ada","password":"correct horse","device":"\#(device)"}"#
    return try UserClient.bearer(try await UserClient.send("POST", "/v1/sessions", [], body, api))
  }

  private static func devices(_ token: [(String, String)], _ api: RunningAPI) async throws -> [String?] {
    try await api.get("/v1/users/me/sessions", headers: token).json["items"].elements.map { $0["device"].text }
  }

  @Test("a user lists the sessions, a back-end's included, and ends one, then the rest")
  func life() async throws {
    try await AccountTests.with { api in
      let user = try #require(try await AccountTests.register(api).json["user"].text)
      let (phone, tablet) = (try await Self.signIn("Phone", api), try await Self.signIn("Tablet", api))
      for body in [#"{"device":"Web"}"#, #"{"grant":{"kinds":["marker"],"bytes":9}}"#] {
        let minted = try await UserClient.send("POST", "/v1/users/\(user)/tokens", UserClient.backend, body, api)
        #expect(minted.status == 201)
      }
      let list = try await api.get("/v1/users/\(user)/sessions", headers: phone)
      #expect(!list.text.contains("t5u_"))
      let items = list.json["items"].elements
      #expect(items.map { $0["device"].text } == ["Web", "Tablet", "Phone", nil])
      #expect(items.map { $0["current"] } == [false, false, true, false].map(JSONValue.boolean))
      let names: Set<String> = ["id", "device", "created_at", "used_at", "expires_at", "current"]
      #expect(items.allSatisfy { $0.names == names })
      // Who is on the tablet sees which one it is.
      #expect(
        try await api.get("/v1/users/me/sessions", headers: tablet).json["items"][1]["current"] == .boolean(true))
      let path = "/v1/users/me/sessions/\(try #require(items[1]["id"].text))"
      #expect(try await UserClient.send("DELETE", path, phone, nil, api).status == 204)
      #expect(try await !AccountTests.isValid(tablet, api))
      let again = try await UserClient.send("DELETE", path, phone, nil, api)
      #expect(again.status == 404 && UserClient.kind(again) == "token_not_found")
      #expect(try await UserClient.send("DELETE", "/v1/users/me/sessions", phone, nil, api).status == 204)
      #expect(try await Self.devices(phone, api) == ["Phone"])
    }
  }

  @Test("no user sees or ends the sessions of another one")
  func others() async throws {
    try await AccountTests.with { api in
      let ada = try #require(try await AccountTests.register(api).json["user"].text)
      let phone = try await Self.signIn("Phone", api)
      let bob = try UserClient.bearer(
        try await AccountTests.register(api, #"{"user_name":"bob","password":"correct horse"}"#))
      let id = try #require(
        try await api.get("/v1/users/me/sessions", headers: phone).json["items"][0]["id"].text)
      for (method, path) in [
        ("GET", "/v1/users/\(ada)/sessions"), ("DELETE", "/v1/users/\(ada)/sessions"),
        ("DELETE", "/v1/users/\(ada)/sessions/\(id)"),
      ] {
        let refused = try await UserClient.send(method, path, bob, nil, api)
        #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours")
      }
      #expect(try await UserClient.send("DELETE", "/v1/users/me/sessions/\(id)", bob, nil, api).status == 404)
      #expect(try await AccountTests.isValid(phone, api))
    }
  }

  @Test("a session says when it was used, which a request without its token does not change")
  func use() async throws {
    try await AccountTests.with { api in
      _ = try await AccountTests.register(api)
      let phone = try await Self.signIn("Phone", api)
      try await until {
        try await api.get("/v1/users/me/sessions", headers: phone).json["items"][0]["used_at"] != .null
      }
      #expect(try await api.get("/v1/users/me/sessions", headers: phone).json["items"][1]["used_at"] == .null)
    }
  }
}
