import Crypto
import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

/// Media URLs that a client keeps from before a change.
@Suite("Media URLs of users", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ViewerURLTests {
  /// A service with a post of Ada's, whose friend Bob is, and the clients that have read it as Bob.
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

  private static func with(_ visibility: Visibility, _ body: (Scene) async throws -> Void) async throws {
    try await RunningAPI.with { api in
      let key = try await api.createKey("t5-app", [.read, .submit, .change, .delete, .tokens])
      let fixture = try await AccessFixture(api, visibility: visibility)
      try await api.pool.transaction { session in
        _ = try Relations.relate("ada", .friend, to: "bob", for: .unrestricted, session)
        _ = try Relations.relate("bob", .friend, to: "ada", for: .unrestricted, session)
      }
      try await body(
        Scene(api: api, fixture: fixture, key: key, token: api.token(of: "bob", minter: .key(key))))
    }
  }

  @Test("the path of a job is for the author of its post or image, and for a back-end")
  func jobs() async throws {
    try await UserClient.with { api in
      let created = try await api.submit(.moment(), headers: UserClient.backend)
      let post = try #require(created.headers["location"])
      #expect(
        created.json["job"]["url"].text?.hasPrefix("/v1/jobs/") == true && created.json["offset_seconds"] == .null)
      var form = MultipartForm()
      form.add("image", filename: "a.jpg", contentType: "image/jpeg", PhotoSubmissionTests.jpeg)
      let reaction = try await request(
        "POST", "\(post)/reactions", port: api.port,
        headers: UserClient.backend + [("Take5-User", "ada"), ("Content-Type", form.contentType)], body: form.bytes)
      let image = try #require(reaction.json["url"].text)
      for (user, isTold) in [("ada", true), ("bob", false), (nil, true)] as [(String?, Bool)] {
        let acting = UserClient.backend + (user.map { [("Take5-User", $0)] } ?? [])
        for path in [post, image] {
          let job = try await api.get(path, headers: acting).json["job"]
          #expect((job["url"].text != nil) == isTold && job["state"].text == "available", "\(path)")
        }
        let listed = try await api.get("/v1/posts?status=processing", headers: acting).json["items"][0]
        #expect((listed["job"]["url"].text != nil) == isTold)
      }
    }
  }

  /// The changes in docs/access.md.
  enum Change: String, CaseIterable {
    case none
    case friendship = "the friendship ended"
    case block = "Ada has blocked the user"
    case blockOfAda = "the user has blocked Ada"
    case visibility = "the post became private"
    case expiry = "the token expired, the user's last"
    case revocation = "the token was revoked, the user's last"
    case oneOfTwo = "a token was revoked, and the user has another"
    case key = "the API key was revoked"

    /// The status in the row of docs/access.md.
    func status() throws -> Int {
      let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
      let text = try String(contentsOfFile: "\(root)/docs/access.md", encoding: .utf8)
      let row = try #require(text.split(separator: "\n").first { $0.hasPrefix("| \(rawValue) |") })
      return try #require(Int(row.split(separator: "|")[1].filter(\.isNumber)))
    }

    /// Whether it concerns the token alone, and not the key that acts as the same user.
    var isOfToken: Bool { [.expiry, .revocation, .oneOfTwo].contains(self) }
  }

  @Test("URLs kept from before a change get the statuses of docs/access.md", arguments: Change.allCases)
  func kept(change: Change) async throws {
    try await Self.with(.friends) { scene in
      let (ofToken, ofKey) = (try await scene.urls(scene.clients[0]), try await scene.urls(scene.clients[1]))
      let ada = try await scene.urls([("Authorization", "Bearer t5-app"), ("Take5-User", "ada")])
      // The URLs of the key are used before; those of the token are not, so that the cache does not know it by its id.
      #expect(try await scene.statuses(ofKey + ada) == [200, 200, 200, 200])
      if [.revocation, .oneOfTwo, .key].contains(change) { #expect(try await scene.statuses(ofToken) == [200, 200]) }
      func relation(_ method: String, _ path: String, _ user: String) async throws {
        let response = try await request(
          method, path, port: scene.api.port, headers: [("Authorization", "Bearer t5-app"), ("Take5-User", user)])
        #expect(response.status == 200 || response.status == 204)
      }
      switch change {
      case .none: break
      case .friendship: try await relation("DELETE", "/v1/users/bob/friends/ada", "bob")
      case .block: try await relation("PUT", "/v1/users/ada/blocks/bob", "ada")
      case .blockOfAda: try await relation("PUT", "/v1/users/bob/blocks/ada", "bob")
      case .visibility:
        // Not by the API, which would also give the media new ids.
        try await scene.execute(
          "UPDATE post SET visibility = 'private' WHERE public_id = $1::uuid", scene.fixture.post)
      case .expiry:
        try await scene.execute(
          "UPDATE user_token SET expires_at = clock_timestamp() WHERE public_id = $1::uuid", scene.token.id)
      case .revocation, .oneOfTwo:
        if change == .oneOfTwo { _ = try await scene.api.token(of: "bob", minter: .key(scene.key)) }
        let revoked = try await request(
          "DELETE", "/v1/tokens/current", port: scene.api.port, headers: scene.token.header)
        #expect(revoked.status == 204)
      case .key: try await scene.api.revoke(scene.key)
      }
      let status = try change.status()
      #expect(try await scene.statuses(ofToken) == [status, status])
      let expected = change.isOfToken ? 200 : status
      #expect(try await scene.statuses(ofKey) == [expected, expected])
      // Those of Ada live as long as her key.
      let own = change == .key ? 403 : 200
      #expect(try await scene.statuses(ada) == [own, own])
    }
  }

  @Test("the URLs of a user are the same for each token, and die with the last one")
  func tokens() async throws {
    try await Self.with(.friends) { scene in
      let urls = try await scene.urls(scene.clients[0])
      #expect(urls.allSatisfy { $0.contains("&reader=user&user=bob&") })
      let other = try await scene.api.token(of: "bob", minter: .key(scene.key))
      #expect(try await scene.urls(other.header) == urls)
      let eve = try await scene.api.token(of: "eve", minter: .key(scene.key))
      func signOut(_ token: RunningAPI.Token) async throws {
        let response = try await request("DELETE", "/v1/tokens/current", port: scene.api.port, headers: token.header)
        #expect(response.status == 204)
      }
      #expect(try await scene.statuses(urls) == [200, 200])
      try await signOut(scene.token)
      #expect(try await scene.statuses(urls) == [200, 200])
      try await signOut(other)
      #expect(try await scene.statuses(urls) == [403, 403])
      // The token of another user does not revive them, a new one of the user does.
      #expect(try await scene.api.get("/v1/posts", headers: eve.header).status == 200)
      #expect(try await scene.statuses(urls.map { $0.replacing("&user=bob", with: "&user=eve") }) == [403, 403])
      #expect(try await scene.statuses(urls) == [403, 403])
      _ = try await scene.api.token(of: "bob", minter: .key(scene.key))
      #expect(try await scene.statuses(urls) == [200, 200])
    }
  }

  @Test("a token of a minter that is not valid any more keeps no URL alive")
  func minters() async throws {
    try await Self.with(.friends) { scene in
      let urls = try await scene.urls(scene.clients[0])
      // The service has no such key: only the process knows.
      _ = try await scene.api.token(of: "bob", minter: .operatorKey)
      try await scene.api.execute("UPDATE user_token SET revoked_at = clock_timestamp() WHERE minter = 'key'")
      #expect(try await scene.statuses(urls) == [403, 403])
    }
  }

  @Test("URLs that an earlier version issued for a token work until they expire, or the token is revoked")
  func earlier() async throws {
    try await Self.with(.friends) { scene in
      let token = try #require(try await scene.api.pool.run { try Tokens.find(scene.token.id, $0) })
      let urls = scene.api.access.urls(for: AccessControl.reader(token))
      let asset = try #require(try await scene.urls(scene.clients[0])[0].firstMatch(of: /media\/([0-9a-f-]+)/))
      let url = urls.url(ofAsset: try #require(PublicID(String(asset.1))))
      #expect(url.contains("&reader=\(token.id)&") && !url.contains("&user="))
      #expect(try await scene.statuses([url]) == [200])
      _ = try await request("DELETE", "/v1/tokens/current", port: scene.api.port, headers: scene.token.header)
      #expect(try await scene.statuses([url]) == [403])
    }
  }

  @Test("without its signature a URL of a post that is not public is dead for a client without a credential")
  func unsigned() async throws {
    try await Self.with(.friends) { scene in
      for url in try await scene.urls(scene.clients[0]) {
        let path = String(url.prefix { $0 != "?" })
        #expect(path != url)
        #expect(try await scene.statuses([path]) == [404])
        let response = try await scene.api.get(path, headers: scene.clients[0])
        #expect(response.status == 200 && response.headers["cache-control"]?.hasPrefix("private,") == true)
      }
    }
  }

  @Test("the signature covers the user")
  func user() async throws {
    try await Self.with(.friends) { scene in
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
