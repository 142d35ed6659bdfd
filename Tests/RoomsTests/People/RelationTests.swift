import HTTPTesting
import Model
import Postgres
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Relations", .tags(.database, .network), .timeLimit(.minutes(60)))
struct RelationTests {
  private static func send(
    _ method: String, _ path: String, as user: String? = nil, _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await UserClient.send(
      method, path, UserClient.backend + (user.map { [("Take5-User", $0)] } ?? []), nil, api)
  }

  /// Stores a user of each name, as a back-end registers them.
  private static func register(_ users: [String], _ api: RunningAPI) async throws {
    for user in users {
      let saved = try await UserClient.send("PUT", "/v1/users/\(user)", UserClient.backend, "{}", api)
      #expect(saved.status == 200)
    }
  }

  private static func befriend(_ first: String, _ second: String, _ api: RunningAPI) async throws {
    _ = try await send("PUT", "/v1/users/\(first)/friends/\(second)", as: first, api)
    let accepted = try await send("PUT", "/v1/users/\(second)/friends/\(first)", as: second, api)
    #expect(accepted.json["state"] == .string("established"))
  }

  private static func friends(_ user: String, _ api: RunningAPI) async throws -> JSONValue {
    try await send("GET", "/v1/users/\(user)", api).json["counts"]["friends"]
  }

  @Test("a request becomes a friendship when the other user accepts; repetitions change nothing")
  func befriending() async throws {
    try await UserClient.with { api in
      try await Self.register(["ada", "bob"], api)
      func state(_ response: ClientResponse) -> String? { response.json["state"].text }
      func listed(_ user: String, _ state: String) async throws -> [String?] {
        let path = "/v1/users/\(user)/friends?state=\(state)"
        return try await Self.send("GET", path, as: user, api).json["items"].elements.map { $0["target"].text }
      }
      for _ in 0..<2 {
        #expect(state(try await Self.send("PUT", "/v1/users/ada/friends/bob", as: "ada", api)) == "sent")
      }
      #expect(state(try await Self.send("GET", "/v1/users/bob/friends/ada", as: "bob", api)) == "received")
      #expect(try await [listed("ada", "sent"), listed("bob", "received")] == [["bob"], ["ada"]])
      #expect(try await [listed("ada", "established"), listed("ada", "received")] == [[], []])
      #expect(try await Self.friends("ada", api) == .number(0))
      #expect(try await Self.send("GET", "/v1/users/bob", as: "ada", api).json["relation"] == .string("requested"))
      #expect(try await Self.send("GET", "/v1/users/ada", as: "bob", api).json["relation"] == .string("received"))
      for _ in 0..<2 {
        #expect(state(try await Self.send("PUT", "/v1/users/bob/friends/ada", as: "bob", api)) == "established")
        #expect(state(try await Self.send("PUT", "/v1/users/ada/friends/bob", as: "ada", api)) == "established")
      }
      #expect(try await [listed("ada", "established"), listed("bob", "established")] == [["bob"], ["ada"]])
      #expect(try await [Self.friends("ada", api), Self.friends("bob", api)] == [.number(1), .number(1)])
      #expect(try await Self.send("GET", "/v1/users/bob", as: "ada", api).json["relation"] == .string("friend"))
      for _ in 0..<2 {
        #expect(try await Self.send("DELETE", "/v1/users/bob/friends/ada", as: "bob", api).status == 204)
      }
      #expect(try await [Self.friends("ada", api), Self.friends("bob", api)] == [.number(0), .number(0)])
      let gone = try await Self.send("GET", "/v1/users/ada/friends/bob", as: "ada", api)
      #expect(gone.status == 404 && UserClient.kind(gone) == "relation_not_found")
    }
  }

  @Test("who has asked cancels the request, and who was asked declines it", arguments: ["ada", "bob"])
  func declining(user: String) async throws {
    try await UserClient.with { api in
      try await Self.register(["ada", "bob"], api)
      _ = try await Self.send("PUT", "/v1/users/ada/friends/bob", as: "ada", api)
      let other = user == "ada" ? "bob" : "ada"
      #expect(try await Self.send("DELETE", "/v1/users/\(user)/friends/\(other)", as: user, api).status == 204)
      #expect(try await Self.send("GET", "/v1/users/ada/friends/bob", as: "ada", api).status == 404)
      // The other user asks again instead of accepting what is gone.
      let asked = try await Self.send("PUT", "/v1/users/bob/friends/ada", as: "bob", api)
      #expect(asked.json["state"] == .string("sent"))
    }
  }

  @Test("a block ends friendship and requests, and hides each of both from the other")
  func blocking() async throws {
    try await UserClient.with { api in
      try await Self.register(["ada", "bob", "eve"], api)
      try await Self.befriend("ada", "bob", api)
      _ = try await Self.send("PUT", "/v1/users/eve/friends/ada", as: "eve", api)
      let post = try await UserClient.post(api, by: "ada")
      let ofBob = try await UserClient.post(api, by: "bob")
      let third = try await UserClient.post(api, by: "carol")
      for user in ["ada", "bob"] {
        let comment = try await UserClient.send(
          "POST", third + "/comments", UserClient.backend + [("Take5-User", user)], #"{"text":"x"}"#, api)
        #expect(comment.status == 201)
        #expect(
          try await Self.send("PUT", "/v1/users/\(user)/likes/\(third.dropFirst(10))", as: user, api).status == 200)
      }
      for other in ["bob", "eve"] {
        for _ in 0..<2 {
          #expect(try await Self.send("PUT", "/v1/users/ada/blocks/\(other)", as: "ada", api).status == 200)
        }
      }
      #expect(try await [Self.friends("ada", api), Self.friends("bob", api)] == [.number(0), .number(0)])
      #expect(try await Self.send("GET", "/v1/users/ada/friends/eve", as: "ada", api).status == 404)
      for (viewer, path) in [("bob", post), ("ada", ofBob)] {
        for path in [path, path + "/comments"] {
          #expect(try await Self.send("GET", path, as: viewer, api).status == 404, "\(viewer) \(path)")
        }
        let list = try await Self.send("GET", "/v1/posts", as: viewer, api).text
        #expect(!list.contains(path.dropFirst(10)) && list.contains(third.dropFirst(10)))
        let comments = try await Self.send("GET", third + "/comments", as: viewer, api).json["items"].elements
        #expect(comments.map { $0["author"].text } == [viewer])
        let likes = try await Self.send("GET", third + "/likes", as: viewer, api).json["items"].elements
        #expect(likes.map { $0["user"].text } == [viewer])
      }
      // Who has blocked sees whom, and how to undo it; who is blocked sees as much as of a user who never existed.
      #expect(try await Self.send("GET", "/v1/users/bob", as: "ada", api).json["relation"] == .string("blocked"))
      for path in ["/v1/users/ada", "/v1/users/unknown"] {
        let hidden = try await Self.send("GET", path, as: "bob", api)
        #expect(hidden.status == 404 && UserClient.kind(hidden) == "user_not_found")
      }
      for other in ["ada", "unknown"] {
        let asked = try await Self.send("PUT", "/v1/users/bob/friends/\(other)", as: "bob", api)
        #expect(asked.status == 404 && UserClient.kind(asked) == "user_not_found")
        // Blocking does not show it either, and does not make a user exist.
        #expect(try await Self.send("PUT", "/v1/users/eve/blocks/\(other)", as: "eve", api).status == 200)
        #expect(try await Self.send("GET", "/v1/users/\(other)", as: "eve", api).status == 404)
      }
      #expect(try await Self.send("GET", "/v1/users?query=ada", as: "bob", api).json["items"] == .array([]))
      for (state, users) in [("", ["eve", "bob"]), ("?state=received", ["eve"])] {
        let key = state.isEmpty ? "target" : "user"
        let list = try await Self.send("GET", "/v1/users/ada/blocks\(state)", api).json["items"].elements
        #expect(list.map { $0[key].text } == users)
      }
      #expect(try await Self.send("GET", "/v1/users/bob/blocks?state=received", as: "bob", api).status == 403)
      #expect(try await Self.send("DELETE", "/v1/users/ada/blocks/bob", as: "ada", api).status == 204)
      #expect(try await Self.send("GET", post, as: "bob", api).status == 200)
      #expect(try await Self.send("GET", ofBob, as: "ada", api).status == 200)
      #expect(try await Self.friends("bob", api) == .number(0))
    }
  }

  @Test("likes are counted once, and go with their post; bookmarks and favourites are lists")
  func keeping() async throws {
    try await UserClient.with { api in
      let posts = [try await UserClient.post(api), try await UserClient.post(api)]
      let ids = posts.map { String($0.dropFirst("/v1/posts/".count)) }
      for user in ["bob", "eve"] {
        for id in ids + ids {
          #expect(try await Self.send("PUT", "/v1/users/\(user)/likes/\(id)", as: user, api).status == 200)
          #expect(try await Self.send("PUT", "/v1/users/\(user)/bookmarks/\(id)", as: user, api).status == 200)
        }
        #expect(try await Self.send("PUT", "/v1/users/\(user)/favourites/lake", as: user, api).status == 200)
      }
      func likes(_ path: String) async throws -> JSONValue {
        try await Self.send("GET", path, api).json["counts"]["likes"]
      }
      #expect(try await [likes(posts[0]), likes(posts[1])] == [.number(2), .number(2)])
      let upper = "/v1/users/bob/likes/\(ids[0].uppercased())"
      for _ in 0..<2 { #expect(try await Self.send("DELETE", upper, as: "bob", api).status == 204) }
      #expect(try await likes(posts[0]) == .number(1))

      func list(_ path: String, _ member: String, as user: String? = nil) async throws -> [String?] {
        var found: [String?] = []
        var cursor = ""
        let deadline = Deadline("the last page")
        repeat {
          try deadline.check()
          let page = try await Self.send("GET", "\(path)?limit=1\(cursor)", as: user, api).json
          found += page["items"].elements.map { $0[member].text }
          cursor = page["next"].text.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return found
      }
      #expect(try await list("/v1/users/bob/bookmarks", "target", as: "bob") == [ids[1], ids[0]])
      #expect(try await list("/v1/users/bob/likes", "target", as: "bob") == [ids[1]])
      #expect(try await list(posts[1] + "/likes", "user", as: "ada") == ["eve", "bob"])
      #expect(try await list("/v1/places/lake/favourites", "user", as: "ada") == ["eve", "bob"])
      #expect(try await list(posts[1] + "/bookmarks", "user") == ["eve", "bob"])
      #expect(try await Self.send("GET", posts[1] + "/bookmarks", as: "ada", api).status == 403)
      #expect(try await Self.send("GET", "/v1/users/bob/bookmarks", as: "ada", api).status == 403)

      #expect(try await Self.send("DELETE", posts[1], as: "ada", api).status == 204)
      #expect(try await list("/v1/users/bob/bookmarks", "target", as: "bob") == [ids[0]])
      let left: Int = try await api.pool.run { session in
        try session.execute("SELECT count(*) FROM relation WHERE target = $1", .text(ids[1])).single().get(0)
      }
      #expect(left == 0)
      let gone = try await Self.send("PUT", "/v1/users/bob/likes/\(ids[1])", as: "bob", api)
      #expect(gone.status == 404 && UserClient.kind(gone) == "post_not_found")
    }
  }

  @Test("a user puts favourites in an order, in which new ones come first; they are counted once")
  func ordering() async throws {
    try await UserClient.with { api in
      for place in ["a", "b", "c", "d"] {
        #expect(try await Self.send("PUT", "/v1/users/bob/favourites/\(place)", as: "bob", api).status == 200)
      }
      func arrange(_ places: String, as user: String = "bob") async throws -> ClientResponse {
        try await UserClient.send(
          "PUT", "/v1/users/bob/favourites", UserClient.backend + [("Take5-User", user)], #"{"places":[\#(places)]}"#,
          api)
      }
      func order() async throws -> [String] {
        var (found, cursor): ([String], String) = ([], "")
        let deadline = Deadline("the last page")
        repeat {
          try deadline.check()
          let path = "/v1/users/bob/favourites?sort=own&limit=2\(cursor)"
          let page = try await Self.send("GET", path, as: "bob", api).json
          found += page["items"].elements.compactMap { $0["target"].text }
          cursor = page["next"].text.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return found
      }
      #expect(try await order() == ["d", "c", "b", "a"])
      #expect(try await arrange(#""c","a","d","b""#).status == 204)
      #expect(try await order() == ["c", "a", "d", "b"])
      let newest = try await Self.send("GET", "/v1/users/bob/favourites", as: "bob", api).json["items"].elements
      #expect(newest.map { $0["target"].text } == ["d", "c", "b", "a"])
      for place in ["e", "f", "a"] {
        #expect(try await Self.send("PUT", "/v1/users/bob/favourites/\(place)", as: "bob", api).status == 200)
      }
      #expect(try await Self.send("DELETE", "/v1/users/bob/favourites/d", as: "bob", api).status == 204)
      #expect(try await order() == ["f", "e", "c", "a", "b"])
      #expect(try await arrange(#""b","f""#).status == 204)
      #expect(try await order() == ["e", "c", "a", "b", "f"])
      #expect(try await Self.send("GET", "/v1/places/a", api).json["counts"]["favourites"] == .number(1))
      let unknown = try await arrange(#""b","x","f""#)
      #expect(unknown.status == 400 && unknown.json["errors"][0]["field"].text == "places[1]")
      for wrong in [#""b","b""#, "1", #""\u0000""#] { #expect(try await arrange(wrong).status == 400, "\(wrong)") }
      #expect(try await arrange(#""b""#, as: "eve").status == 403)
      #expect(try await order() == ["e", "c", "a", "b", "f"])
      #expect(try await Self.send("GET", "/v1/users/bob/bookmarks?sort=own", as: "bob", api).status == 400)
    }
  }

  @Test(
    "only a post that the user sees can be liked, also by a client that acts as no user; a like can always be taken back"
  )
  func unseen() async throws {
    try await UserClient.with { api in
      try await Self.register(["ada", "bob"], api)
      try await Self.befriend("ada", "bob", api)
      let path = try await UserClient.post(api, "friends")
      let like = "/v1/users/bob/likes/\(path.dropFirst("/v1/posts/".count))"
      #expect(try await Self.send("PUT", like, as: "bob", api).status == 200)
      _ = try await Self.send("DELETE", "/v1/users/ada/friends/bob", as: "ada", api)
      for user in ["bob", nil] {
        #expect(try await Self.send("PUT", like, as: user, api).status == 404)
      }
      #expect(try await Self.send("GET", path, api).json["counts"]["likes"] == .number(1))
      #expect(try await Self.send("DELETE", like, as: "bob", api).status == 204)
      #expect(try await Self.send("GET", path, api).json["counts"]["likes"] == .number(0))
    }
  }

  @Test(
    "a user who has as many friends as are permitted neither asks nor is asked nor accepts, until a friendship ends")
  func tooMany() async throws {
    var setting = RunningAPI.Setting()
    setting.api.maxFriends = 2
    try await UserClient.with(setting) { api in
      try await Self.register(["ada", "bob", "eve", "kim"], api)
      let asked = try await Self.send("PUT", "/v1/users/kim/friends/ada", as: "kim", api)
      #expect(asked.status == 200)
      for friend in ["bob", "eve"] { try await Self.befriend("ada", friend, api) }
      // The request that waits is answered, and one that is repeated.
      for path in ["ada/friends/kim", "kim/friends/bob"] {
        let user = path.split(separator: "/").first.map(String.init)
        let response = try await Self.send("PUT", "/v1/users/\(path)", as: user, api)
        #expect((response.status == 409) == (path == "ada/friends/kim"), "\(path): \(response.status)")
      }
      #expect(try await Self.send("PUT", "/v1/users/kim/friends/ada", as: "kim", api).json["state"] == .string("sent"))
      _ = try await UserClient.send("PUT", "/v1/users/lou", UserClient.backend, "{}", api)
      let refused = try await Self.send("PUT", "/v1/users/lou/friends/ada", as: "lou", api)
      #expect(refused.status == 409 && UserClient.kind(refused) == "too_many_friends")
      #expect(try await Self.friends("ada", api) == .number(2))
      #expect(try await Self.send("DELETE", "/v1/users/ada/friends/bob", as: "ada", api).status == 204)
      #expect(
        try await Self.send("PUT", "/v1/users/ada/friends/kim", as: "ada", api).json["state"] == .string("established"))
    }
  }

  @Test("no user has a relation to oneself, or changes another user's")
  func others() async throws {
    try await UserClient.with { api in
      try await Self.register(["ada", "bob"], api)
      for kind in RelationKind.all {
        let target = kind.target == .post ? "\(PublicID.now())" : "bob"
        for method in ["PUT", "GET", "DELETE"] {
          let path = "/v1/users/ada/\(kind.path)/\(target)"
          let refused = try await Self.send(method, path, as: "bob", api)
          #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours", "\(method) \(path)")
        }
        guard kind.target == .user else { continue }
        let oneself = try await Self.send("PUT", "/v1/users/ada/\(kind.path)/ada", as: "ada", api)
        #expect(oneself.status == 400 && UserClient.kind(oneself) == "invalid_fields")
      }
    }
  }
}
