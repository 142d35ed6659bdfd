import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("The request to delete a user", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ForgettingTests {
  @Test("tokens die at once, nothing more is stored, and a repeated request returns the same job")
  func request() async throws {
    try await UserClient.with { api in
      let minted = try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api)
      let token = try UserClient.bearer(minted)
      let post = try await UserClient.post(api)
      #expect(try await UserClient.send("GET", post, token, nil, api).status == 200)
      let first = try await UserClient.send("DELETE", "/v1/users/ada", token, nil, api)
      #expect(first.status == 202)
      #expect(try await UserClient.send("GET", post, token, nil, api).status == 401)
      let url = try #require(first.headers["location"])
      #expect(try await UserClient.send("GET", url, UserClient.backend, nil, api).json["kind"] == .string("forget"))
      let again = try await UserClient.send("DELETE", "/v1/users/ada", UserClient.backend, nil, api)
      #expect(again.status == 202 && again.json["id"] == first.json["id"])
      let requests = [
        ("POST", "/v1/posts", #"{"kind":"marker","title":"Here","author":"ada"}"#),
        ("POST", "\(post)/comments", #"{"author":"ada","text":"Nice"}"#), ("POST", "/v1/users/ada/tokens", "{}"),
      ]
      for (method, path, body) in requests {
        let refused = try await UserClient.send(method, path, UserClient.backend, body, api)
        #expect(refused.status == 409 && UserClient.kind(refused) == "user_forgotten", "\(path)")
      }
      let others = try await UserClient.send(
        "DELETE", "/v1/users/ada", UserClient.backend + [("Take5-User", "bob")], nil, api)
      #expect(UserClient.kind(others) == "not_yours")
    }
  }
}
