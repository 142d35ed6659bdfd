import HTTPTesting
import Model
import Postgres
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Places", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PlaceTests {
  /// Stores a marker at a place, and returns its path.
  private static func post(
    _ api: RunningAPI, by author: String, at place: String, _ visibility: String = "public",
    longitude: Double = 9.5
  ) async throws -> String {
    let place =
      #"{"id":"\#(place)","name":"Named by a post","coordinate":{"latitude":47.5,"longitude":\#(longitude)}}"#
    let body = #"{"kind":"marker","title":"Here","visibility":"\#(visibility)","place":\#(place)}"#
    return try #require(try await UserClient.send(api, "POST", "/v1/posts", as: author, body).headers["location"])
  }

  private static func counts(_ place: String, _ api: RunningAPI) async throws -> [String: Double] {
    let counts = try await UserClient.send(api, "GET", "/v1/places/\(place)").json["counts"]
    return counts.names.reduce(into: [:]) { all, name in
      if case .number(let number) = counts[name] { all[name] = number }
    }
  }

  private static func ids(_ query: String, as user: String? = nil, _ api: RunningAPI) async throws -> [String?] {
    let list = try await UserClient.send(api, "GET", "/v1/places?\(query)", as: user)
    #expect(list.status == 200)
    return list.json["items"].elements.map { $0["id"].text }
  }

  @Test("public posts make a place known and are counted, whatever changes; others do neither")
  func counting() async throws {
    try await UserClient.with { api in
      let hidden = try await Self.post(api, by: "ada", at: "lake", "private")
      #expect(try await UserClient.send(api, "GET", "/v1/places/lake").status == 404)
      let first = try await Self.post(api, by: "ada", at: "lake")
      _ = try await Self.post(api, by: "ada", at: "lake")
      _ = try await Self.post(api, by: "bob", at: "lake")
      let place = try await UserClient.send(api, "GET", "/v1/places/lake").json
      #expect(place["name"].text == "Named by a post" && place["coordinate"]["longitude"] == .number(9.5))
      let counts = try await Self.counts("lake", api)
      #expect(counts["posts"] == 3 && counts["users"] == 2)
      // Another visibility, another place, deletion.
      #expect(try await UserClient.send(api, "PATCH", hidden, #"{"visibility":"public"}"#).status == 200)
      #expect(try await UserClient.send(api, "PATCH", first, #"{"place":{"id":"hut"}}"#).status == 200)
      #expect(try await [Self.counts("lake", api)["posts"], Self.counts("hut", api)["posts"]] == [3, 1])
      #expect(try await UserClient.send(api, "DELETE", first).status == 204)
      #expect(try await UserClient.send(api, "GET", "/v1/places/hut").status == 404)
      let users = try await UserClient.send(api, "GET", "/v1/places/lake/users?limit=1").json
      #expect(users["items"].elements.map { $0["user"].text } == ["ada"])
      let rest = try await UserClient.send(
        api, "GET", "/v1/places/lake/users?cursor=\(try #require(users["next"].text))")
      #expect(rest.json["items"].elements.map { $0["user"].text } == ["bob"] && rest.json["next"] == .null)
      // Favourites.
      for method in ["PUT", "PUT", "DELETE", "DELETE", "PUT"] {
        #expect(try await UserClient.send(api, method, "/v1/users/eve/favourites/lake", as: "eve").status < 300)
      }
      #expect(try await Self.counts("lake", api)["favourites"] == 1)
    }
  }

  @Test(
    "what a public post has said of a place goes with it into private, and what it says no more; a deleted one's word stays",
    arguments: [#"{"visibility":"private"}"#, #"{"visibility":"friends"}"#, #"{"min_age":18}"#])
  func withdrawn(change: String) async throws {
    try await UserClient.with { api in
      func place() async throws -> JSONValue {
        try await UserClient.send(api, "GET", "/v1/places/lake", as: "eve").json
      }
      #expect(try await UserClient.send(api, "PUT", "/v1/users/eve/favourites/lake", as: "eve").status < 300)
      let first = try await Self.post(api, by: "ada", at: "lake", longitude: 9.25)
      let second = try await Self.post(api, by: "ada", at: "lake", longitude: 9.75)
      #expect(try await place()["coordinate"]["longitude"] == .number(9.75))
      #expect(try await UserClient.send(api, "PATCH", second, as: "ada", change).status == 200)
      #expect(try await place()["coordinate"]["longitude"] == .number(9.25))
      let unnamed = #"{"place":{"id":"lake","name":null,"coordinate":{"latitude":47.5,"longitude":9.25}}}"#
      #expect(try await UserClient.send(api, "PATCH", first, as: "ada", unnamed).status == 200)
      let present = try await place()
      #expect(present["name"] == .null && present["coordinate"]["longitude"] == .number(9.25))
      #expect(try await UserClient.send(api, "PATCH", first, as: "ada", change).status == 200)
      #expect(try await place()["coordinate"] == .null)
      let third = try await Self.post(api, by: "bob", at: "lake", longitude: 9.5)
      #expect(try await UserClient.send(api, "DELETE", third, as: "bob").status == 204)
      #expect(try await place()["coordinate"]["longitude"] == .number(9.5))
      // A post that said nothing takes nothing with it.
      let silent = #"{"kind":"marker","title":"Here","place":{"id":"lake"}}"#
      let fourth = try #require(
        try await UserClient.send(api, "POST", "/v1/posts", as: "eve", silent).headers["location"])
      #expect(try await UserClient.send(api, "PATCH", fourth, as: "eve", change).status == 200)
      #expect(try await place()["name"].text == "Named by a post")
      #expect(try await place()["coordinate"]["longitude"] == .number(9.5))
    }
  }

  @Test("each user has one description of a place, a back-end has the last word, and two at once lose nothing")
  func describing() async throws {
    try await UserClient.with { api in
      _ = try await Self.post(api, by: "ada", at: "lake")
      let path = "/v1/places/lake"
      let full = #"{"name":"Lake","categories":["swim","quiet"],"rating":4.5,"price_level":2}"#
      let described = try await UserClient.send(api, "PUT", path, as: "bob", full)
      #expect(described.status == 200 && described.json["author"].text == "bob")
      #expect(described.json["categories"].elements.compactMap(\.text) == ["swim", "quiet"])
      // What posts say is shown all the same.
      #expect(
        described.json["name"].text == "Named by a post" && described.json["coordinate"]["longitude"] == .number(9.5))
      let empty = try await UserClient.send(api, "PUT", path, as: "ada", "{}")
      #expect(empty.status == 200 && empty.json["rating"] == .number(4.5))
      let version = try #require(empty.headers["etag"])
      func change(_ version: String) async throws -> Int {
        try await UserClient.send(
          "PUT", path, UserClient.backend + [("Take5-User", "bob"), ("If-Match", version)], full, api
        ).status
      }
      #expect(try await change(version) == 200)
      #expect(try await change(version) == 412)
      let fewer = try await UserClient.send(api, "PUT", path, as: "bob", #"{"rating":3}"#)
      #expect(fewer.json["rating"] == .number(3) && fewer.json["categories"] == .array([]))
      let changed = try await UserClient.send(api, "PUT", path, #"{"name":"Pond"}"#)
      #expect(changed.json["author"].text == "bob" && changed.json["name"].text == "Pond")
      // What it leaves out is what posts say, so that the place stays on the map, and nothing of what users say besides.
      #expect(changed.json["coordinate"]["longitude"] == .number(9.5) && changed.json["rating"] == .null)
      #expect(try await UserClient.send(api, "PUT", path, as: "bob", full).json["name"].text == "Pond")
      let wrong = try await UserClient.send(
        api, "PUT", path,
        #"{"rating":6,"price_level":0,"categories":["a","a"],"stars":1,"coordinate":{"latitude":91,"longitude":0}}"#)
      #expect(
        Set(wrong.json["errors"].elements.compactMap { $0["field"].text })
          == ["rating", "price_level", "categories", "stars", "coordinate.latitude"])
    }
  }

  @Test("no user alone moves or renames a place where others have posted, before or after them")
  func agreeing() async throws {
    try await UserClient.with { api in
      let wrong = #"{"name":"CLOSED","coordinate":{"latitude":0,"longitude":0},"rating":0}"#
      func shown() async throws -> (name: String?, longitude: JSONValue) {
        let place = try await UserClient.send(api, "GET", "/v1/places/hall", as: "eve").json
        return (place["name"].text, place["coordinate"]["longitude"])
      }
      // Without a post it is what the only user says.
      #expect(try await UserClient.send(api, "PUT", "/v1/places/hall", as: "carl", wrong).status == 200)
      #expect(try await shown() == ("CLOSED", .number(0)))
      _ = try await Self.post(api, by: "ada", at: "hall")
      #expect(try await shown() == ("Named by a post", .number(9.5)))
      #expect(try await UserClient.send(api, "PUT", "/v1/places/hall", as: "carl", wrong).status == 200)
      var moved: [String] = []
      for _ in 0..<3 { moved.append(try await Self.post(api, by: "carl", at: "hall", longitude: -170)) }
      #expect(try await shown() == ("Named by a post", .number(9.5)))
      #expect(try await Self.ids("box=9,47,10,48", as: "eve", api) == ["hall"])
      // The nearest to all others, although none may be the same.
      for (user, longitude) in [("bob", 9.51), ("dora", 9.52), ("fred", 9.53)] {
        _ = try await Self.post(api, by: user, at: "hall", longitude: longitude)
      }
      #expect(try await shown().longitude == .number(9.51))
      for user in ["m1", "m2", "m3", "m4", "m5"] { _ = try await Self.post(api, by: user, at: "hall", longitude: -170) }
      #expect(try await shown().longitude == .number(-170))
      // The back-end has the last word.
      let right = #"{"name":"Hall","coordinate":{"latitude":47.5,"longitude":9.6}}"#
      #expect(try await UserClient.send(api, "PUT", "/v1/places/hall", right).status == 200)
      #expect(try await shown() == ("Hall", .number(9.6)))
      for post in moved { #expect(try await UserClient.send(api, "DELETE", post).status == 204) }
      #expect(try await shown() == ("Hall", .number(9.6)))
    }
  }

  @Test("of what users only say, most decide; a place that no user describes any more stays as it was")
  func majorities() async throws {
    try await UserClient.with { api in
      for (user, rating) in [("ada", 1), ("bob", 5), ("eve", 5)] {
        let name = rating == 1 ? "Shed" : "Barn"
        let body = #"{"name":"\#(name)","rating":\#(rating),"coordinate":{"latitude":1,"longitude":\#(rating)}}"#
        #expect(try await UserClient.send(api, "PUT", "/v1/places/barn", as: user, body).status == 200)
      }
      let place = try await UserClient.send(api, "GET", "/v1/places/barn").json
      #expect(
        place["name"].text == "Barn" && place["rating"] == .number(5) && place["coordinate"]["longitude"] == .number(5))
      let post = try await Self.post(api, by: "ada", at: "barn")
      #expect(try await UserClient.send(api, "GET", "/v1/places/barn").json["name"].text == "Named by a post")
      #expect(try await UserClient.send(api, "DELETE", post).status == 204)
      #expect(try await UserClient.send(api, "GET", "/v1/places/barn").json["name"].text == "Barn")
      let only = try await Self.post(api, by: "ada", at: "mill")
      #expect(try await UserClient.send(api, "PUT", "/v1/users/eve/favourites/mill", as: "eve").status == 200)
      #expect(try await UserClient.send(api, "DELETE", only).status == 204)
      let mill = try await UserClient.send(api, "GET", "/v1/places/mill").json
      #expect(mill["name"].text == "Named by a post" && mill["counts"]["posts"] == .number(0))
    }
  }

  @Test("neither a count of collections nor the order by saves shows a user what others keep for themselves")
  func savings() async throws {
    try await UserClient.with { api in
      for user in ["ada", "bob"] { _ = try await UserClient.send(api, "PUT", "/v1/users/\(user)", as: user, "{}") }
      for place in ["lake", "hut"] {
        _ = try await UserClient.send(api, "PUT", "/v1/places/\(place)", #"{"name":"x"}"#)
      }
      _ = try await UserClient.send(api, "PUT", "/v1/users/ada/favourites/hut", as: "ada")
      var trips: [String] = []
      for _ in 0..<2 {
        let trip = #"{"kind":"itinerary","name":"Trip","items":[{"place":"lake"}]}"#
        let created = try await UserClient.send(api, "POST", "/v1/collections", as: "ada", trip)
        trips.append(try #require(created.headers["location"]))
      }
      func collections(as user: String?) async throws -> [JSONValue] {
        let place = try await UserClient.send(api, "GET", "/v1/places/lake", as: user).json
        let listed = try await UserClient.send(api, "GET", "/v1/places?id=lake", as: user).json["items"][0]
        return [place["counts"]["collections"], listed["counts"]["collections"]]
      }
      #expect(try await collections(as: nil) == [.number(2), .number(2)])
      #expect(try await collections(as: "ada") == [.number(2), .number(2)])
      #expect(try await collections(as: "bob") == [.number(0), .number(0)])
      #expect(try await Self.ids("sort=saves", as: "bob", api) == ["hut", "lake"])
      #expect(try await Self.ids("sort=saves", api) == ["lake", "hut"])
      let shared = try await UserClient.send(api, "PUT", "\(trips[0])/members/bob", as: "ada", #"{"role":"viewer"}"#)
      #expect(shared.status == 204)
      #expect(try await collections(as: "bob") == [.number(1), .number(1)])
      _ = try await UserClient.send(api, "PUT", "/v1/users/ada/blocks/bob", as: "ada")
      #expect(try await collections(as: "bob") == [.number(0), .number(0)])
    }
  }

  @Test("lists select by a box, a point, a category or ids, and sort by posts, saves or distance, in pages")
  func lists() async throws {
    try await UserClient.with { api in
      for (place, longitude, posts) in [("a", 9.5, 1), ("b", 9.6, 3), ("c", 9.7, 2), ("far", -170.0, 1)] {
        for _ in 0..<posts { _ = try await Self.post(api, by: "ada", at: place, longitude: longitude) }
      }
      _ = try await UserClient.send(api, "PUT", "/v1/users/eve/favourites/c", as: "eve")
      let described = #"{"name":"C","coordinate":{"latitude":47.5,"longitude":9.7},"categories":["bar"]}"#
      #expect(try await UserClient.send(api, "PUT", "/v1/places/c", described).status == 200)
      let box = "box=9,47,10,48"
      #expect(try await Self.ids(box, api) == ["b", "c", "a"])
      #expect(try await Self.ids("\(box)&sort=saves", api).first == "c")
      #expect(try await Self.ids("near=9.5,47.5&radius=20000&sort=distance", api) == ["a", "b", "c"])
      #expect(try await Self.ids("near=9.5,47.5&radius=10000", api) == ["b", "a"])
      // Across the antimeridian, and a box of more than 400 cells.
      #expect(try await Self.ids("box=170,47,-160,48", api) == ["far"])
      #expect(try await Self.ids("box=-180,-90,180,90", api) == ["b", "c", "far", "a"])
      #expect(try await Self.ids("category=bar", api) == ["c"])
      #expect(try await Self.ids("id=c&id=a&id=unknown", api) == ["a", "c"])
      for query in [box, "\(box)&sort=saves", "near=9.5,47.5&radius=20000&sort=distance", "box=-180,-90,180,90"] {
        let all = try await Self.ids(query, api)
        var (paged, cursor): ([String?], String?) = ([], "")
        let deadline = Deadline("the last page")
        while let next = cursor {
          try deadline.check()
          let path = "/v1/places?\(query)&limit=1" + (next.isEmpty ? "" : "&cursor=\(next)")
          let page = try await UserClient.send(api, "GET", path).json
          paged += page["items"].elements.map { $0["id"].text }
          cursor = page["next"].text
        }
        #expect(paged == all, "\(query)")
      }
      #expect(try await UserClient.send(api, "GET", "/v1/places?sort=distance").status == 400)
    }
  }

  @Test("a note is for the eyes of its user only")
  func notes() async throws {
    try await UserClient.with { api in
      _ = try await Self.post(api, by: "ada", at: "lake")
      let path = "/v1/users/ada/notes/lake"
      #expect(try await UserClient.send(api, "PUT", path, as: "ada", #"{"text":"Bring shoes"}"#).status == 200)
      #expect(try await UserClient.send(api, "PUT", path, as: "ada", #"{"text":"Bring towels"}"#).status == 200)
      #expect(try await UserClient.send(api, "GET", "/v1/places/lake", as: "ada").json["note"].text == "Bring towels")
      #expect(try await UserClient.send(api, "GET", "/v1/places/lake", as: "bob").json["note"] == .null)
      #expect(try await UserClient.send(api, "GET", "/v1/places/lake").json["note"] == .null)
      #expect(try await UserClient.send(api, "GET", path, as: "bob").status == 403)
      let list = try await UserClient.send(api, "GET", "/v1/users/ada/notes", as: "ada").json["items"]
      #expect(list.elements.map { $0["place"].text } == ["lake"])
      #expect(try await UserClient.send(api, "DELETE", path, as: "ada").status == 204)
      #expect(try await UserClient.send(api, "DELETE", path, as: "ada").status == 404)
    }
  }

  @Test("comments on a place are counted; a blocked user's are hidden")
  func comments() async throws {
    try await UserClient.with { api in
      _ = try await Self.post(api, by: "ada", at: "lake")
      let path = "/v1/places/lake/comments"
      for user in ["bob", "eve"] {
        #expect(try await UserClient.send(api, "POST", path, as: user, #"{"text":"By \#(user)"}"#).status == 201)
      }
      #expect(
        try await UserClient.send(api, "POST", "/v1/places/unknown/comments", as: "bob", #"{"text":"x"}"#).status == 404
      )
      _ = try await UserClient.send(api, "PUT", "/v1/users/ada/blocks/eve", as: "ada")
      func texts(_ user: String) async throws -> [String?] {
        try await UserClient.send(api, "GET", path, as: user).json["items"].elements.map { $0["text"].text }
      }
      #expect(try await [texts("ada"), texts("bob")] == [["By bob"], ["By eve", "By bob"]])
      let comment = try #require(
        try await UserClient.send(api, "GET", path, as: "bob").json["items"].elements.first?["id"].text)
      #expect(try await UserClient.send(api, "DELETE", "\(path)/\(comment)", as: "bob").status == 403)
      #expect(try await UserClient.send(api, "DELETE", "\(path)/\(comment)", as: "ada").status == 404)
      #expect(try await UserClient.send(api, "DELETE", "\(path)/\(comment)", as: "eve").status == 204)
      #expect(try await Self.counts("lake", api)["comments"] == 1)
    }
  }

  @Test("the map has the sums of public posts in cells of a size that the area decides, for the time that is asked for")
  func activity() async throws {
    try await UserClient.with { api in
      var posts: [String] = []
      for longitude in [9.5, 9.5001, 9.9] {
        posts.append(try await Self.post(api, by: "ada", at: "lake", longitude: longitude))
      }
      _ = try await Self.post(api, by: "ada", at: "lake", "friends")
      func cells(_ query: String) async throws -> [Double] {
        let map = try await UserClient.send(api, "GET", "/v1/map?\(query)")
        #expect(map.status == 200)
        return map.json["cells"].elements.compactMap { cell in
          if case .number(let posts) = cell["posts"] { posts } else { nil }
        }
      }
      #expect(try await [cells(""), cells("box=-180,-90,180,90")] == [[3], [3]])
      #expect(try await cells("box=9,47,10,48") == [2, 1])
      #expect(try await cells("box=9.85,47.4,9.95,47.6&from=2026-01-01T00:00:00Z") == [1])
      #expect(try await cells("to=2026-01-01T00:00:00Z") == [])
      #expect(try await UserClient.send(api, "PATCH", posts[0], #"{"visibility":"private"}"#).status == 200)
      #expect(try await UserClient.send(api, "DELETE", posts[2]).status == 204)
      #expect(try await cells("") == [1])
      #expect(try await UserClient.send(api, "DELETE", posts[1]).status == 204)
      #expect(try await cells("") == [])
    }
  }
}
