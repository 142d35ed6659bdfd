import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("What responses include", .tags(.database, .network), .timeLimit(.minutes(60)))
struct IncludeTests {
  private static let all = "include=author,mine,place"

  private static func get(_ path: String, as user: String?, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send(
      "GET", path, UserClient.backend + (user.map { [("Take5-User", $0)] } ?? []), nil, api)
  }

  @Test("exactly the operations of the document take the parameter, and each has the parts that the client wants")
  func operations() async throws {
    let table = try AccessTable()
    try await RunningAPI.with { api in
      let document = try await api.get("/openapi.json").json
      let fixture = try await AccessFixture(api, visibility: .public)
      var including: Set<String> = []
      for row in table.rows where row.method == "GET" && row.access != .token && row.access != .open {
        let sent = fixture.request(row, author: nil)
        let operation = document["paths"][row.template]["get"]
        guard operation["responses"]["200"]["content"].names.contains("application/json") else { continue }
        let takes = operation["parameters"].elements.contains { $0["$ref"].text?.hasSuffix("/Include") == true }
        let path = sent.path + (sent.path.contains("?") ? "&" : "?")
        guard takes else {
          let refused = try await api.get(path + "include=author", headers: sent.headers)
          #expect(refused.status == 400 && UserClient.kind(refused) == "invalid_query", "\(row.template)")
          continue
        }
        including.insert(row.template)
        // Some lists are not for users.
        let isOfUsers = row.responses[.keyAsAda]?.first == "200"
        let acting = isOfUsers ? [("Take5-User", "ada")] : []
        let (parts, names) =
          isOfUsers ? (Self.all, ["mine", "places", "users"]) : ("include=author,place", ["places", "users"])
        let whole = try await api.get(path + parts, headers: acting)
        #expect(whole.status == 200, "\(row.template)")
        #expect(whole.json["included"].names == Set(names), "\(row.template)")
        let part = try await api.get(path + "include=place", headers: acting)
        #expect(part.json["included"].names == ["places"], "\(row.template)")
        let repeated = try await api.get(path + "include=place&include=author", headers: acting)
        #expect(repeated.json["included"].names == ["places", "users"], "\(row.template)")
        let plain = try await api.get(sent.path, headers: acting)
        #expect(!plain.json.names.contains("included"))
        #expect(plain.json.names.union(["included"]) == whole.json.names, "\(row.template)")
        let many = String(repeating: "include=place&", count: 101)
        for parameters in ["include=likes", many] {
          #expect(try await api.get(path + parameters, headers: acting).status == 400, "\(row.template)")
        }
      }
      let documented = document["paths"].names.filter { path in
        document["paths"][path]["get"]["parameters"].elements.contains {
          $0["$ref"].text?.hasSuffix("/Include") == true
        }
      }
      #expect(including == documented && including.count > 10)
    }
  }

  @Test(
    "a list of posts includes its authors, places and what the user has to them, and leaves out what the user may not see"
  )
  func posts() async throws {
    try await UserClient.with { api in
      try await Self.people(api)
      let list = try await Self.get("/v1/posts?\(Self.all)", as: "eve", api).json
      let included = list["included"]
      let authors = list["items"].elements.compactMap { $0["author"].text }
      #expect(authors.sorted() == ["ada", "bob", "cy", "dan"])
      #expect(included["users"].names == ["ada", "bob", "cy", "dan"])
      let ada = included["users"]["ada"]
      #expect(ada.names == ["fields", "id", "image", "name", "user_name"])
      #expect([ada["name"], ada["user_name"]] == [.string("Ada Lovelace"), .string("Ada")])
      #expect(included["users"]["bob"]["name"] == .null)
      #expect(included["places"].names == ["lake"])
      #expect(included["places"]["lake"] == (try await Self.get("/v1/places/lake", as: "eve", api).json))
      let mine = included["mine"]
      #expect(mine["users"]["ada"]["state"] == .string("requested"))
      #expect(mine["users"]["bob"]["state"] == .string("friend"))
      #expect(mine["users"]["cy"]["state"] == .string("received"))
      #expect(mine["users"]["dan"] == .object(["state": .null]))
      #expect(mine["places"] == .object(["lake": .object(["favourited": .boolean(true)])]))
      let states = list["items"].elements.map { mine["posts"][$0["id"].text ?? ""] }
      let liked = JSONValue.object(["liked": .boolean(true), "bookmarked": .boolean(false)])
      let none = JSONValue.object(["liked": .boolean(false), "bookmarked": .boolean(false)])
      #expect(states.filter { $0 == liked }.count == 1 && states.filter { $0 == none }.count == 3)
      // The state belongs to the user who reads.
      let others = try await Self.get("/v1/posts?\(Self.all)", as: "dan", api).json["included"]["mine"]
      #expect(others["places"]["lake"]["favourited"] == .boolean(false))
      #expect(others["users"].names == ["ada", "bob", "cy"])
      // A moderator hides the place.
      try await api.pool.run { session in
        _ = try session.execute("UPDATE place SET is_hidden = true WHERE id = 'lake'")
      }
      #expect(try await Self.get("/v1/posts?\(Self.all)", as: "eve", api).json["included"]["places"] == .object([:]))
    }
  }

  /// Posts of four users, one of them at a place, and Eve, who has something to each of the others but Dan.
  private static func people(_ api: RunningAPI) async throws {
    let profile = #"{"user_name":"Ada","name":"Ada Lovelace","email":"ada@example.org"}"#
    #expect(try await UserClient.send("PUT", "/v1/users/ada", UserClient.backend, profile, api).status == 200)
    #expect(
      try await UserClient.send("PUT", "/v1/places/lake", UserClient.backend, #"{"name":"Lake"}"#, api).status == 200)
    var posts: [String] = []
    for (day, user) in ["ada", "bob", "cy", "dan"].enumerated() {
      let time = "2026-11-0\(day + 1)T00:00:00Z"
      posts.append(try await ListTests.post(api, at: time, author: user, place: user == "bob" ? "lake" : nil))
    }
    for (user, path) in [
      ("eve", "friends/ada"), ("eve", "friends/bob"), ("bob", "friends/eve"), ("cy", "friends/eve"),
      ("eve", "likes/\(posts[0])"), ("eve", "favourites/lake"),
    ] {
      let acting = UserClient.backend + [("Take5-User", user)]
      let made = try await UserClient.send("PUT", "/v1/users/\(user)/\(path)", acting, nil, api)
      #expect(made.status == 200, "\(user) \(path)")
    }
  }

  @Test("a user who has blocked the reader is missing, and one whom the reader has blocked is there")
  func blocks() async throws {
    try await UserClient.with { api in
      try await Self.people(api)
      // A back-end reads the likes of all; a collection has members who have blocked each other.
      let eve = UserClient.backend + [("Take5-User", "eve")]
      let body = #"{"author":"zoe","kind":"album","name":"Trip"}"#
      let album = try await UserClient.send("POST", "/v1/collections", UserClient.backend, body, api)
      let members = "\(try #require(album.headers["location"]))/members"
      for user in ["ada", "bob", "eve"] {
        let path = "\(members)/\(user)"
        #expect(try await UserClient.send("PUT", path, UserClient.backend, #"{"role":"viewer"}"#, api).status == 204)
      }
      let before = try await Self.get("\(members)?\(Self.all)", as: "eve", api).json
      #expect(before["included"]["users"].names == ["ada", "bob", "eve"])
      #expect(before["included"]["mine"]["users"].names == ["ada", "bob"])
      let ada = UserClient.backend + [("Take5-User", "ada")]
      #expect(try await UserClient.send("PUT", "/v1/users/ada/blocks/eve", ada, nil, api).status == 200)
      #expect(try await UserClient.send("PUT", "/v1/users/eve/blocks/bob", eve, nil, api).status == 200)
      let after = try await Self.get("\(members)?\(Self.all)", as: "eve", api).json
      #expect(after["items"].elements.count == 3)
      #expect(after["included"]["users"].names == ["bob", "eve"])
      let authors = try await Self.get("\(members)?include=author", as: "eve", api).json
      #expect(authors["included"]["users"].names == ["bob", "eve"])
      #expect(after["included"]["mine"]["users"] == .object(["bob": .object(["state": .string("blocked")])]))
      let blocked = try await Self.get("/v1/users/eve/blocks?\(Self.all)", as: "eve", api).json
      #expect(blocked["included"]["users"].names == ["bob", "eve"])
    }
  }

  @Test("each record names its users, places and posts")
  func records() async throws {
    try await RunningAPI.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      let (post, place) = ("\(fixture.post)", fixture.place)
      func included(_ path: String) async throws -> JSONValue {
        let response = try await api.get("\(path)?\(Self.all)", headers: [("Take5-User", "ada")])
        #expect(response.status == 200, "\(path)")
        return response.json["included"]
      }
      // The paths, the users and the places that they name, and whether the user's state of the post and of the place is there.
      let (ada, both): (Set<String>, Set<String>) = (["ada"], ["ada", "friend-\(post)"])
      let expected: [(path: String, users: Set<String>, place: Bool, ownPost: Bool, ownPlace: Bool)] = [
        ("/v1/posts/\(post)", ada, false, true, false), ("/v1/posts/\(post)/comments", ada, false, true, false),
        ("/v1/posts/\(post)/reactions", ada, false, true, false), ("/v1/posts/\(post)/likes", ada, false, true, false),
        ("/v1/users/ada/likes", ada, false, true, false), ("/v1/users/ada/bookmarks/\(post)", ada, false, true, false),
        ("/v1/users/ada/favourites", ada, true, false, true), ("/v1/users/ada/friends", both, false, false, false),
        ("/v1/users/ada/notes", [], true, false, true), ("/v1/users/ada/notes/\(place)", [], true, false, true),
        ("/v1/users/ada", [], false, false, false), ("/v1/users/ada/profile-image", ada, false, false, false),
        ("/v1/places/\(place)", ada, false, false, true), ("/v1/places/\(place)/comments", ada, true, false, true),
        ("/v1/places/\(place)/photos", ada, true, false, true), ("/v1/collections", ada, false, false, false),
        ("/v1/collections/\(fixture.collection)/members", ["friend-\(post)"], false, false, false),
        ("/v1/collections/\(fixture.collection)/activity", both, false, false, false),
      ]
      for (path, users, hasPlace, ownPost, ownPlace) in expected {
        let included = try await included(path)
        #expect(included["users"].names == users, "\(path)")
        #expect(included["places"].names == (hasPlace ? [place] : []), "\(path)")
        let own = JSONValue.object(["liked": .boolean(true), "bookmarked": .boolean(true)])
        #expect(included["mine"]["posts"] == .object(ownPost ? [post: own] : [:]), "\(path)")
        let favourite = JSONValue.object(["favourited": .boolean(true)])
        #expect(included["mine"]["places"] == .object(ownPlace ? [place: favourite] : [:]), "\(path)")
      }
      let calendar = try await api.get(
        "/v1/users/ada/calendar?month=\(fixture.month)&include=mine", headers: [("Take5-User", "ada")])
      #expect(calendar.json["included"]["mine"]["posts"].names == [post])
      let image = try await included("/v1/posts/\(post)")["users"]["ada"]["image"]
      #expect(image.names == ["avatar"])
      #expect(try await api.get(try #require(image["avatar"]["url"].text)).status == 200)
    }
  }

  @Test("who has the link of a collection alone gets its places and its author's name with it")
  func link() async throws {
    try await UserClient.with { api in
      try await Self.people(api)
      let body = #"{"author":"ada","kind":"itinerary","name":"Trip","items":[{"place":"lake"},{"place":"unknown"}]}"#
      let trip = try await UserClient.send("POST", "/v1/collections", UserClient.backend, body, api)
      let path = try #require(trip.headers["location"])
      let link = try await UserClient.send("POST", "\(path)/link", UserClient.backend, nil, api)
      let url = try #require(link.json["url"].text)
      let included = try await api.get("\(url)&include=author,place").json["included"]
      #expect(included["users"]["ada"]["name"] == .string("Ada Lovelace"))
      #expect(included["places"].names == ["lake"])
      #expect(included["places"]["lake"]["name"] == .string("Lake"))
      #expect(try await api.get("\(url)&include=mine").status == 400)
      // The bookmark of the place is the reader's.
      let read = try await Self.get("\(path)?include=mine", as: "ada", api).json["included"]["mine"]["places"]
      #expect(read["lake"] == .object(["favourited": .boolean(false)]))
    }
  }

  @Test("a client that acts as no user gets authors and places, and 400 for what would be its user's")
  func withoutUser() async throws {
    try await UserClient.with { api in
      try await Self.people(api)
      let list = try await Self.get("/v1/posts?include=author,place", as: nil, api)
      #expect(list.json["included"]["users"].names == ["ada", "bob", "cy", "dan"])
      #expect(list.json["included"]["places"].names == ["lake"])
      let refused = try await Self.get("/v1/posts?include=mine", as: nil, api)
      #expect(refused.status == 400 && UserClient.kind(refused) == "user_required")
      // The feed belongs to a user.
      let feed = try await Self.get("/v1/users/bob/feed?\(Self.all)", as: nil, api).json["included"]
      #expect(feed["mine"]["places"].names == ["lake"] && feed["mine"]["users"].names == [])
    }
  }

  @Test("a search includes the same, by a field of its body")
  func search() async throws {
    try await UserClient.with { api in
      try await ListTests.post(api, at: "2026-11-01T00:00:00Z", latitude: 52.5, longitude: 13.4)
      func search(_ include: String, as user: String = "eve") async throws -> ClientResponse {
        let polygon = #"{"type":"Polygon","coordinates":[[[13,52],[14,52],[14,53],[13,53],[13,52]]]}"#
        let acting = UserClient.backend + [("Take5-User", user)]
        return try await UserClient.send(
          "POST", "/v1/posts/search", acting, #"{"polygon":\#(polygon)\#(include)}"#, api)
      }
      let found = try await search(#","include":["author","mine"]"#).json
      #expect(found["included"].names == ["mine", "users"])
      #expect(found["included"]["users"].names == ["ada"])
      for without in ["", #","include":null"#, #","include":[]"#] {
        #expect(try await search(without).json.names == ["items", "next"])
      }
      #expect(try await search(#","include":"author""#).json["included"].names == ["users"])
      for invalid in [#","include":"likes""#, #","include":["likes"]"#, #","include":[1]"#] {
        let refused = try await search(invalid)
        #expect(refused.status == 400 && refused.json["errors"][0]["field"] == .string("include"), "\(invalid)")
      }
    }
  }

  @Test("the number of statements for a page does not depend on the number of its records")
  func statements() async throws {
    try await RunningAPI.with(.init(connections: 1)) { api in
      for index in 0..<40 {
        try await ListTests.post(
          api, at: "2026-11-01T00:00:\(10 + index)Z", author: "user \(index)", place: "place \(index)")
      }
      let lists = api.api.kit.lists
      func cost(of query: String) async throws -> [String: Int] {
        let before = try await Self.executions(lists)
        #expect(try await api.get("/v1/posts?\(query)", headers: [("Take5-User", "eve")]).status == 200)
        return try await Self.executions(lists).merging(before) { $0 - $1 }.filter { $0.value > 0 }
      }
      for query in ["limit=1", "limit=40"] { _ = try await cost(of: "\(query)&\(Self.all)") }
      let (one, many) = (try await cost(of: "limit=1&\(Self.all)"), try await cost(of: "limit=40&\(Self.all)"))
      #expect(one == many)
      let plain = try await cost(of: "limit=40")
      let more = many.filter { plain[$0.key] != $0.value && !$0.key.contains("snapshot") }
      // Of the authors, of what is the user's, and of the places with their photos.
      #expect(more.values.reduce(0, +) - more.keys.compactMap { plain[$0] }.reduce(0, +) <= 4, "\(more)")
      #expect(more.keys.filter { $0.contains("named_users") || $0.contains("own_relations") }.count == 2, "\(more)")
    }
  }

  /// How often the only connection of a pool has executed each of its prepared statements.
  private static func executions(_ pool: Pool) async throws -> [String: Int] {
    try await pool.read { session in
      let rows = try session.execute(
        "SELECT name, generic_plans + custom_plans AS executions FROM pg_prepared_statements")
      return try Dictionary(rows.map { (try $0.get("name"), try $0.get("executions")) }) { first, _ in first }
    }
  }
}
