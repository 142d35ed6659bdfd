import Crypto
import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import ControlAPI

/// Media URLs that a client keeps from before a change.
@Suite("Media URLs of users", .tags(.database, .network), .timeLimit(.minutes(10)))
struct ViewerURLTests {
  /// A service with a public post of Ada's, and the clients that have read it as Bob.
  private struct Scene: Sendable {
    let api: RunningAPI
    let fixture: AccessFixture
    let key: Int64
    let token: RunningAPI.Token

    var clients: [[(String, String)]] { [token.header, [("Authorization", "Bearer t5-app"), ("Take5-User", "bob")]] }

    /// Returns the URLs of the poster and of a reaction, as a client gets them.
    func urls(_ client: [(String, String)]) async throws -> [String] {
      let post = try await api.get("/v1/posts/\(fixture.post)", headers: client).json
      let reactions = try await api.get("/v1/posts/\(fixture.post)/reactions", headers: client).json
      return [
        try #require(post["assets"]["poster"]["url"].text),
        try #require(reactions["items"][0]["assets"]["photo.medium"]["url"].text),
      ]
    }

    func statuses(_ urls: [String]) async throws -> [Int] {
      var statuses: [Int] = []
      for url in urls { statuses.append(try await api.get(url).status) }
      return statuses
    }

    func execute(_ statement: Statement, _ id: PublicID) async throws {
      try await api.pool.run { session in _ = try session.execute(statement, .text("\(id)")) }
    }
  }

  private static func with(_ body: (Scene) async throws -> Void) async throws {
    try await RunningAPI.with { api in
      let key = try await api.createKey("t5-app", [.read, .change, .delete, .tokens])
      let fixture = try await AccessFixture(api, visibility: .public)
      try await body(
        Scene(api: api, fixture: fixture, key: key, token: api.token(of: "bob", minter: .key(key))))
    }
  }

  /// A change after which Bob's URLs are dead.
  enum Change: String, CaseIterable {
    case visibility = "the post becomes private"
    case expiry = "the token expires"
    case revocation = "the token is revoked"
    case key = "the API key is revoked"
  }

  @Test("a URL is dead once its token, its key or the visibility is gone", arguments: Change.allCases)
  func dead(change: Change) async throws {
    try await Self.with { scene in
      let (ofToken, ofKey) = (try await scene.urls(scene.clients[0]), try await scene.urls(scene.clients[1]))
      let ada = try await scene.urls([("Authorization", "Bearer t5-app"), ("Take5-User", "ada")])
      // The URLs of the key are used before; those of the token are not, so that the cache does not know it by its id.
      #expect(try await scene.statuses(ofKey + ada) == [200, 200, 200, 200])
      switch change {
      case .visibility:
        // Not by the API, which would also give the media new ids.
        try await scene.execute(
          "UPDATE post SET visibility = 'private' WHERE public_id = $1::uuid", scene.fixture.post)
        #expect(try await scene.statuses(ofToken + ofKey + ada) == [404, 404, 404, 404, 200, 200])
      case .expiry:
        try await scene.execute(
          "UPDATE user_token SET expires_at = clock_timestamp() WHERE public_id = $1::uuid", scene.token.id)
        #expect(try await scene.statuses(ofToken + ofKey) == [403, 403, 200, 200])
      case .revocation:
        #expect(try await scene.statuses(ofToken) == [200, 200])
        let revoked = try await request(
          "DELETE", "/v1/tokens/current", port: scene.api.port, headers: scene.token.header)
        #expect(revoked.status == 204)
        #expect(try await scene.statuses(ofToken + ofKey) == [403, 403, 200, 200])
      case .key:
        #expect(try await scene.statuses(ofToken) == [200, 200])
        try await scene.api.revoke(scene.key)
        #expect(try await scene.statuses(ofToken + ofKey + ada) == [403, 403, 403, 403, 403, 403])
      }
    }
  }

  @Test("the signature covers the user")
  func user() async throws {
    try await Self.with { scene in
      let url = try await scene.urls(scene.clients[1])[0]
      #expect(url.contains("&reader=\(scene.key)&user=bob&"))
      for changed in ["", "&user=ada"] {
        #expect(try await scene.statuses([url.replacing("&user=bob", with: changed)]) == [403])
      }
      let plain = try await scene.urls([("Authorization", "Bearer t5-app")])[0]
      #expect(
        try await scene.statuses([plain, plain.replacing("&signature", with: "&user=ada&signature")]) == [200, 403])
    }
  }
}
