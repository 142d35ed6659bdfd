import HTTPTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("Collections that are open to others than their members", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OpenCollectionTests {
  /// Stores a collection of Ada's with a visibility, and returns its path. Ada, Bob and Eve are users, Ada and Bob are friends.
  private static func create(_ api: RunningAPI, _ visibility: String) async throws -> String {
    for user in ["ada", "bob", "eve"] {
      _ = try await CollectionTests.send(api, "PUT", "/v1/users/\(user)", as: user, "{}")
    }
    for (user, friend) in [("ada", "bob"), ("bob", "ada")] {
      _ = try await CollectionTests.send(api, "PUT", "/v1/users/\(user)/friends/\(friend)", as: user)
    }
    let created = try await CollectionTests.send(
      api, "POST", "/v1/collections", as: "ada",
      #"{"kind":"itinerary","name":"Berlin","visibility":"\#(visibility)","items":[{"place":"gate"}]}"#)
    #expect(created.json["visibility"].text == visibility, "\(created.text)")
    return try #require(created.headers["location"])
  }

  private static func statuses(_ api: RunningAPI, _ path: String) async throws -> [Int] {
    var statuses: [Int] = []
    for user in ["ada", "bob", "eve"] {
      statuses.append(try await CollectionTests.send(api, "GET", path, as: user).status)
    }
    return statuses
  }

  /// The names of the collections on Ada's profile.
  private static func profile(_ api: RunningAPI, as user: String, _ query: String = "") async throws -> [String?] {
    try await CollectionTests.send(api, "GET", "/v1/users/ada/collections\(query)", as: user).json["items"].elements
      .map { $0["visibility"].text }
  }

  @Test("a private collection is for its members, one for friends for these too, a public one for every user")
  func visibility() async throws {
    try await UserClient.with { api in
      var paths: [String] = []
      for visibility in ["private", "friends", "public"] { paths.append(try await Self.create(api, visibility)) }
      #expect(try await Self.statuses(api, paths[0]) == [200, 404, 404])
      #expect(try await Self.statuses(api, paths[1]) == [200, 200, 404])
      #expect(try await Self.statuses(api, paths[2]) == [200, 200, 200])
      for path in [paths[2], "\(paths[2])?link=t5l_wrong"] { #expect(try await api.get(path).status == 401) }
      #expect(try await Self.profile(api, as: "ada") == ["public", "friends", "private"])
      #expect(try await Self.profile(api, as: "bob") == ["public", "friends"])
      #expect(try await Self.profile(api, as: "eve") == ["public"])
      #expect(try await Self.profile(api, as: "bob", "?kind=album").isEmpty)
      let first = try await CollectionTests.send(api, "GET", "/v1/users/ada/collections?limit=1", as: "bob").json
      let next = try #require(first["next"].text)
      #expect(try await Self.profile(api, as: "bob", "?limit=1&cursor=\(next)") == ["friends"])
      #expect(try await CollectionTests.send(api, "GET", "/v1/users/unknown/collections", as: "bob").status == 404)
      // They are not among one's own.
      #expect(try await CollectionTests.send(api, "GET", "/v1/collections", as: "bob").json["items"].elements.isEmpty)
      // The end of the friendship, and a block on either side.
      _ = try await CollectionTests.send(api, "DELETE", "/v1/users/bob/friends/ada", as: "bob")
      #expect(try await Self.statuses(api, paths[1]) == [200, 404, 404])
      _ = try await CollectionTests.send(api, "PUT", "/v1/users/eve/blocks/ada", as: "eve")
      #expect(try await Self.statuses(api, paths[2]) == [200, 200, 404])
      #expect(try await Self.profile(api, as: "eve").isEmpty)
      _ = try await CollectionTests.send(api, "PUT", "/v1/users/ada/blocks/bob", as: "ada")
      #expect(try await Self.statuses(api, paths[2]) == [200, 404, 404])
      #expect(try await CollectionTests.send(api, "GET", "/v1/users/ada/collections", as: "bob").status == 404)
    }
  }

  @Test("a reader sees the collection itself, and neither members, activity and comments nor oneself among the views")
  func readers() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api, "public")
      let comment = try await CollectionTests.send(api, "POST", "\(path)/comments", as: "ada", #"{"text":"When?"}"#)
      let seen = try await CollectionTests.send(api, "GET", path, as: "eve")
      #expect(
        seen.json["role"].text == "reader" && seen.json["items"].elements.count == 1 && seen.json["link"] == .null)
      for inner in ["members", "activity", "comments"] {
        #expect(try await CollectionTests.send(api, "GET", "\(path)/\(inner)", as: "eve").status == 404, "\(inner)")
      }
      #expect(
        try await CollectionTests.send(api, "POST", "\(path)/comments", as: "eve", #"{"text":"I"}"#).status == 404)
      let report = #"{"comment":"\#(comment.json["id"].text ?? "")","reason":"spam"}"#
      #expect(try await CollectionTests.send(api, "POST", "/v1/reports", as: "eve", report).status == 404)
      let version = try #require(seen.headers["etag"])
      for change in [#"{"name":"x"}"#, #"{"visibility":"private"}"#] {
        #expect(try await CollectionTests.send(api, "PATCH", path, as: "eve", change, version: version).status == 403)
      }
      #expect(
        try await CollectionTests.send(api, "PUT", "\(path)/members/eve", as: "eve", #"{"role":"viewer"}"#).status
          == 403)
      #expect(try await CollectionTests.send(api, "DELETE", path, as: "eve").status == 404)
      let activity = try await CollectionTests.send(api, "GET", "\(path)/activity", as: "ada").json["items"].elements
      #expect(activity.map { $0["kind"].text } == ["created"])
    }
  }

  @Test("the author changes the visibility, an editor does not, and null does not remove it")
  func changes() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api, "private")
      _ = try await CollectionTests.send(api, "PUT", "\(path)/members/bob", as: "ada", #"{"role":"editor"}"#)
      func change(_ body: String, as user: String) async throws -> ClientResponse {
        try await CollectionTests.send(api, "PATCH", path, as: user, body, version: "*")
      }
      #expect(try await change(#"{"visibility":"public"}"#, as: "bob").status == 403)
      #expect(try await change(#"{"visibility":"private","name":"Trip"}"#, as: "bob").status == 200)
      #expect(try await change(#"{"visibility":null}"#, as: "ada").status == 400)
      #expect(try await change(#"{"visibility":"all"}"#, as: "ada").status == 400)
      #expect(try await change(#"{"visibility":"public"}"#, as: "ada").json["visibility"].text == "public")
      #expect(try await Self.statuses(api, path) == [200, 200, 200])
      #expect(try await change(#"{"name":"Tour"}"#, as: "ada").json["visibility"].text == "public")
      let activity = try await CollectionTests.send(api, "GET", "\(path)/activity", as: "ada").json["items"].elements
      #expect(activity.contains { $0["keys"].elements.map(\.text) == ["visibility"] })
    }
  }

  @Test("a public collection is reported by a reader and hidden from all but its author, and approval restores it")
  func moderation() async throws {
    try await ModerationTests.with { api in
      for user in ["ada", "bob"] { _ = try await ModerationTests.send(api, "PUT", "/v1/users/\(user)", as: user, "{}") }
      let trip = #"{"kind":"itinerary","name":"Buy gold","visibility":"public"}"#
      let path = try #require(
        try await ModerationTests.send(api, "POST", "/v1/collections", as: "ada", trip).headers["location"])
      let id = ModerationTests.id(path)
      let report = #"{"collection":"\#(id)","reason":"spam"}"#
      #expect(try await ModerationTests.send(api, "POST", "/v1/reports", as: "bob", report).status == 201)
      func seen(as user: String) async throws -> [String?] {
        let read = try await ModerationTests.send(api, "GET", path, as: user).json["hidden"]
        let listed = try await ModerationTests.send(api, "GET", "/v1/users/ada/collections", as: user).json["items"]
        return [read, listed.elements.first?["hidden"] ?? .null].map { $0 == .null ? nil : "\($0 == .boolean(true))" }
      }
      #expect(try await [seen(as: "ada"), seen(as: "bob")] == [["false", "false"], ["false", "false"]])
      try await ModerationTests.decide(api, #""collection":"\#(id)""#, "hide")
      #expect(try await [seen(as: "ada"), seen(as: "bob")] == [["true", "true"], [nil, nil]])
      try await ModerationTests.decide(api, #""collection":"\#(id)""#, "approve")
      #expect(try await [seen(as: "ada"), seen(as: "bob")] == [["false", "false"], ["false", "false"]])
    }
  }
}
