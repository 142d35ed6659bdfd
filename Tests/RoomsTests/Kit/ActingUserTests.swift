import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("Acting as a user", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ActingUserTests {
  @Test("the author may be left out by a client that acts as a user, and must be that user")
  func authors() async throws {
    try await UserClient.with { api in
      let token = try await api.token(of: "ada", minter: .operatorKey).header
      let key = UserClient.backend + [("Take5-User", "ada")]
      // The operator's key is gone, so its token is not valid; a token of the back-end's key is.
      #expect(try await UserClient.send("GET", "/v1/posts", token, nil, api).status == 401)
      let minted = try UserClient.bearer(
        try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api))
      for credential in [key, minted] {
        let post = try await UserClient.send("POST", "/v1/posts", credential, #"{"kind":"marker","title":"x"}"#, api)
        #expect(post.status == 201 && post.json["author"] == .string("ada"))
        let path = try #require(post.headers["location"])
        let comment = try await UserClient.send("POST", path + "/comments", credential, #"{"text":"x"}"#, api)
        #expect(comment.status == 201 && comment.json["author"] == .string("ada"))
        for (path, body) in [
          ("/v1/posts", #"{"kind":"marker","title":"x","author":"bob"}"#),
          (path + "/comments", #"{"text":"x","author":"bob"}"#),
        ] {
          let refused = try await UserClient.send("POST", path, credential, body, api)
          #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours")
        }
        var form = MultipartForm()
        form.add("kind", Array("marker".utf8))
        form.add("title", Array("x".utf8))
        #expect(try await api.submit(form, headers: credential).json["author"] == .string("ada"))
        form.add("author", Array("bob".utf8))
        #expect(try await api.submit(form, headers: credential).status == 403)
      }
      let missing = try await UserClient.send(
        "POST", "/v1/posts", UserClient.backend, #"{"kind":"marker","title":"x"}"#, api)
      #expect(missing.status == 400)
    }
  }

  @Test("ids that differ in bytes are other users, also if their characters are canonically equivalent")
  func equivalent() async throws {
    try await UserClient.with { api in
      // The id of the author is U+00E9, that of the other user U+0065 U+0301.
      let path = try await UserClient.post(api, by: "\u{E9}", "private")
      func status(_ method: String, _ user: String, _ path: String) async throws -> Int {
        try await UserClient.send(method, path, UserClient.backend + [("Take5-User", user)], nil, api).status
      }
      #expect(try await status("GET", "%C3%A9", path) == 200)
      #expect(try await status("GET", "e%CC%81", path) == 404)
      #expect(try await status("DELETE", "e%CC%81", path) == 404)
      let open = try await UserClient.post(api, by: "\u{E9}")
      #expect(try await status("DELETE", "e%CC%81", open) == 403)
      #expect(try await status("DELETE", "e%CC%81", "/v1/users/%C3%A9/profile-image") == 403)
      #expect(try await status("DELETE", "%C3%A9", open) == 204)
    }
  }

  @Test("Take5-User is one percent-encoded id, and does not make a token another user")
  func userField() async throws {
    try await UserClient.with { api in
      for value in ["", "%", "%00", "a b", "%FF", String(repeating: "a", count: 201)] {
        let response = try await UserClient.send(
          "GET", "/v1/posts", UserClient.backend + [("Take5-User", value)], nil, api)
        #expect(response.status == 400 && UserClient.kind(response) == "invalid_fields", "\(value)")
      }
      let twice = [("Take5-User", "ada"), ("Take5-User", "ada")]
      #expect(try await UserClient.send("GET", "/v1/posts", UserClient.backend + twice, nil, api).status == 400)
      let token = try UserClient.bearer(
        try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api))
      for (user, status) in [("ada", 200), ("bob", 403)] {
        let response = try await UserClient.send("GET", "/v1/posts", token + [("Take5-User", user)], nil, api)
        #expect(response.status == status)
      }
    }
  }

  @Test("the visibilities that a list asks for yield what the user sees of them")
  func lists() async throws {
    try await UserClient.with { api in
      for author in ["ada", "bob"] {
        for visibility in Visibility.allCases { _ = try await UserClient.post(api, by: author, visibility.rawValue) }
      }
      let query = "/v1/posts?visibility=public&visibility=friends&visibility=private"
      func visible(_ credential: [(String, String)]) async throws -> [String] {
        try await UserClient.send("GET", query, credential, nil, api).json["items"].elements.map {
          "\($0["author"].text ?? "") \($0["visibility"].text ?? "")"
        }.sorted()
      }
      let both = ["ada friends", "ada private", "ada public", "bob friends", "bob private", "bob public"]
      #expect(try await visible(UserClient.backend) == both)
      #expect(
        try await visible(UserClient.backend + [("Take5-User", "ada")])
          == ["ada friends", "ada private", "ada public", "bob public"])
      #expect(try await visible(UserClient.backend + [("Take5-User", "eve")]) == ["ada public", "bob public"])
    }
  }

  @Test("an idempotency key belongs to the API key and the acting user")
  func idempotency() async throws {
    try await UserClient.with { api in
      let body = #"{"kind":"marker","title":"x"}"#
      func submit(_ credential: [(String, String)]) async throws -> ClientResponse {
        try await UserClient.send("POST", "/v1/posts", credential + [("Idempotency-Key", "k1")], body, api)
      }
      let first = try await submit(UserClient.backend + [("Take5-User", "ada")])
      #expect(first.json["author"] == .string("ada"))
      // Another user's request with the same key is another request.
      let other = try await submit(UserClient.backend + [("Take5-User", "bob")])
      #expect(other.json["author"] == .string("bob") && other.headers["idempotency-replayed"] == nil)
      // A token that the key has minted repeats the request of its user.
      let token = try UserClient.bearer(
        try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api))
      let replay = try await submit(token)
      #expect(replay.body == first.body && replay.headers["idempotency-replayed"] == "true")
    }
  }

  @Test("without keys a request may act as a user, and tokens end with the first key")
  func withoutKeys() async throws {
    try await RunningAPI.with { api in
      let minted = try await UserClient.send("POST", "/v1/users/ada/tokens", [], "{}", api)
      #expect(minted.status == 201)
      let token = try UserClient.bearer(minted)
      let post = try await UserClient.send(
        "POST", "/v1/posts", token, #"{"kind":"marker","title":"x","visibility":"private"}"#, api)
      let path = try #require(post.headers["location"])
      #expect(try await UserClient.send("GET", path, [], nil, api).status == 200)
      for (user, status) in [("ada", 200), ("bob", 404)] {
        #expect(try await UserClient.send("GET", path, [("Take5-User", user)], nil, api).status == status)
      }
      #expect(try await UserClient.send("GET", "/metrics", [("Take5-User", "ada")], nil, api).status == 403)
      _ = try await api.createKey("t5-backend", [.read])
      #expect(try await UserClient.send("GET", path, token, nil, api).status == 401)
      #expect(try await UserClient.send("GET", path, [("Take5-User", "ada")], nil, api).status == 401)
    }
  }

  @Test("in paths `me` stands for the acting user, whatever the client acts with, and is an id for who acts as none")
  func me() async throws {
    try await UserClient.with { api in
      let key = UserClient.backend + [("Take5-User", "ada")]
      let token = try UserClient.bearer(
        try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api))
      #expect(try await UserClient.send("PUT", "/v1/users/bob", UserClient.backend, "{}", api).status == 200)
      for credential in [key, token] {
        let saved = try await UserClient.send("PATCH", "/v1/users/me", credential, #"{"name":"Ada"}"#, api)
        #expect(saved.status == 200 && saved.json["id"].text == "ada")
        #expect(try await api.get("/v1/users/me", headers: credential).json["id"].text == "ada")
        let asked = try await UserClient.send("PUT", "/v1/users/me/friends/bob", credential, nil, api)
        #expect(asked.status == 200 && asked.json["user"].text == "ada")
        #expect(
          try await api.get("/v1/users/me/friends?state=sent", headers: credential).json["items"].elements.count == 1)
        let collection = try await UserClient.send(
          "POST", "/v1/collections", UserClient.backend + [("Take5-User", "bob")],
          #"{"kind":"itinerary","name":"Trip"}"#, api)
        let path = "/v1/collections/\(try #require(collection.json["id"].text))"
        let bob = UserClient.backend + [("Take5-User", "bob")]
        #expect(
          try await UserClient.send("PUT", "\(path)/members/ada", bob, #"{"role":"viewer"}"#, api).status == 204)
        #expect(try await UserClient.send("DELETE", "\(path)/members/me", credential, nil, api).status == 204)
      }
      #expect(try await api.get("/v1/users/me", headers: UserClient.backend).status == 404)
      #expect(try await api.get("/v1/users/me").status == 401)
    }
  }
}
