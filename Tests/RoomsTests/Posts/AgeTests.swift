import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Posts from an age on", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AgeTests {
  /// Stores a user who becomes 18 after some days.
  private static func user(_ name: String, daysTo18 days: Int?, _ api: RunningAPI) async throws {
    #expect(try await FieldTests.send(api, "PATCH", "/v1/users/\(name)", as: name, "{}").status == 200)
    let date = days.map { "current_date - interval '18 years' + interval '\($0) days'" } ?? "NULL"
    try await api.execute("UPDATE app_user SET birth_date = \(date) WHERE id = '\(name)'")
  }

  @Test(
    "a user makes oneself neither older nor of unknown age, and a place of posts for adults is not there for a friend who is none"
  )
  func bounds() async throws {
    try await UserClient.with { api in
      for user in ["ada", "minor", "adult"] { try await Self.user(user, daysTo18: user == "minor" ? 1 : -1, api) }
      for (method, birth) in [("PATCH", "null"), ("PATCH", #""1980-01-01""#), ("PUT", #""1980-01-01""#)] {
        let body = #"{"birth_date":\#(birth)}"#
        let refused = try await FieldTests.send(api, method, "/v1/users/minor", as: "minor", body)
        #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == "birth_date", "\(body)")
      }
      let replaced = try await FieldTests.send(api, "PUT", "/v1/users/minor", as: "minor", #"{"bio":"x"}"#)
      #expect(replaced.status == 200 && replaced.json["birth_date"].text != nil)
      for friend in ["minor", "adult"] {
        _ = try await FieldTests.send(api, "PUT", "/v1/users/ada/friends/\(friend)", as: "ada")
        #expect(try await FieldTests.send(api, "PUT", "/v1/users/\(friend)/friends/ada", as: friend).status == 200)
      }
      let post = #"""
        {"kind":"marker","title":"x","visibility":"friends","min_age":18,
        "place":{"id":"bar","name":"Bar","coordinate":{"latitude":1,"longitude":2}}}
        """#
      #expect(try await FieldTests.send(api, "POST", "/v1/posts", as: "ada", post).status == 201)
      for (friend, sees) in [("minor", false), ("adult", true)] {
        #expect(try await FieldTests.send(api, "GET", "/v1/places/bar", as: friend).status == (sees ? 200 : 404))
        let listed = try await FieldTests.send(api, "GET", "/v1/places?box=1,0,3,2", as: friend)
        #expect(listed.json["items"].elements.count == (sees ? 1 : 0), "\(friend)")
      }
    }
  }

  @Test("of a place a friend who is too young reads what the posts say that the friend sees")
  func words() async throws {
    try await UserClient.with { api in
      for user in ["ada", "minor", "adult"] { try await Self.user(user, daysTo18: user == "minor" ? 1 : -1, api) }
      for friend in ["minor", "adult"] {
        _ = try await FieldTests.send(api, "PUT", "/v1/users/ada/friends/\(friend)", as: "ada")
        #expect(try await FieldTests.send(api, "PUT", "/v1/users/\(friend)/friends/ada", as: friend).status == 200)
      }
      for (name, longitude, age) in [("Bar", 2, "null"), ("Back room", 20, "18")] {
        let post = #"""
          {"kind":"marker","title":"x","visibility":"friends","min_age":\#(age),
          "place":{"id":"bar","name":"\#(name)","coordinate":{"latitude":1,"longitude":\#(longitude)}}}
          """#
        #expect(try await FieldTests.send(api, "POST", "/v1/posts", as: "ada", post).status == 201)
      }
      for (friend, name, longitude) in [("minor", "Bar", 2), ("adult", "Back room", 20)] {
        let place = try await FieldTests.send(api, "GET", "/v1/places/bar", as: friend).json
        #expect(place["name"].text == name, "\(friend)")
        #expect(place["coordinate"]["longitude"] == .number(Double(longitude)), "\(friend)")
        let listed = try await FieldTests.send(api, "GET", "/v1/places?box=19,0,21,2", as: friend).json
        #expect(listed["items"].elements.count == (friend == "adult" ? 1 : 0), "\(friend)")
      }
    }
  }

  @Test("a post from 18 on is nowhere for a user who becomes 18 tomorrow, and is there for all others and its author")
  func everywhere() async throws {
    try await UserClient.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      let post = "/v1/posts/\(fixture.post)"
      try await Self.user("ada", daysTo18: 1000, api)
      try await Self.user("minor", daysTo18: 1, api)
      try await Self.user("adult", daysTo18: 0, api)
      try await Self.user("unknown", daysTo18: nil, api)
      let open = try #require(try await FieldTests.send(api, "GET", post).json["assets"]["poster"]["url"].text)
      #expect(try await api.get(open).status == 200)
      let changed = try await FieldTests.send(api, "PATCH", post, #"{"min_age":18}"#)
      #expect(changed.status == 200 && changed.json["min_age"] == .number(18), "\(changed.text)")
      #expect(try await api.get(open).status == 404)
      let album = #"{"kind":"album","name":"Lake","items":[{"post":"\#(fixture.post)"}]}"#
      let collection = try #require(
        try await FieldTests.send(api, "POST", "/v1/collections", album).headers["location"])
      let area = #"{"type":"Polygon","coordinates":[[[13,52],[14,52],[14,53],[13,53],[13,52]]]}"#
      for (user, sees) in [("minor", false), ("adult", true), ("unknown", true), ("ada", true)] {
        func status(_ method: String, _ path: String, _ body: String? = nil) async throws -> Int {
          try await FieldTests.send(api, method, path, as: user, body).status
        }
        func count(_ response: ClientResponse) -> Int {
          response.json["items"].elements.count { $0["id"].text == "\(fixture.post)" }
        }
        let found = try await FieldTests.send(api, "GET", post, as: user)
        #expect(found.status == (sees ? 200 : 404), "\(user)")
        for path in ["\(post)/comments", "\(post)/reactions", "\(post)/likes"] {
          #expect(try await status("GET", path) == (sees ? 200 : 404), "\(user) \(path)")
        }
        #expect(try await status("POST", "\(post)/comments", #"{"text":"Hi"}"#) == (sees ? 201 : 404), "\(user)")
        #expect(try await status("PUT", "/v1/users/\(user)/likes/\(fixture.post)") == (sees ? 200 : 404), "\(user)")
        let listed = try await FieldTests.send(api, "GET", "/v1/posts", as: user)
        let near = try await FieldTests.send(api, "GET", "/v1/posts?near=13.4,52.5&sort=distance", as: user)
        let searched = try await FieldTests.send(api, "POST", "/v1/posts/search", as: user, #"{"polygon":\#(area)}"#)
        for response in [listed, near, searched] { #expect(count(response) == (sees ? 1 : 0), "\(user)") }
        let calendar = try await FieldTests.send(api, "GET", "/v1/users/ada/calendar?month=\(fixture.month)", as: user)
        #expect(calendar.json["days"].elements.isEmpty == !sees, "\(user) \(calendar.text)")
        if let url = found.json["assets"]["poster"]["url"].text {
          #expect(url.contains("?"))
          #expect(try await api.get(url).status == 200, "\(user)")
          let path = String(url.prefix { $0 != "?" })
          #expect(try await FieldTests.send(api, "GET", path, as: "minor").status == 404)
          #expect(try await FieldTests.send(api, "GET", path, as: "adult").status == 200)
          #expect(try await api.get(path).status == 404)
        }
        if user != "ada" {
          let shared = try await FieldTests.send(api, "PUT", "\(collection)/members/\(user)", #"{"role":"viewer"}"#)
          #expect(shared.status == 204)
        }
        let items = try await FieldTests.send(api, "GET", collection, as: user).json
        // To members a post that they do not see keeps its place.
        #expect(items["items"].elements.map { $0["hidden"] == .boolean(true) } == [!sees])
        #expect(items["counts"]["items"] == .number(sees ? 1 : 0))
      }
      #expect(try await api.get(post, headers: UserClient.backend).status == 200)
      // Without the age it is as before.
      #expect(try await FieldTests.send(api, "PATCH", post, #"{"min_age":null}"#).json["min_age"] == .null)
      #expect(try await FieldTests.send(api, "GET", post, as: "minor").status == 200)
    }
  }

  @Test("no counter has it for a user who is too young: the map and a place, a profile and what the likes include")
  func counters() async throws {
    try await UserClient.with { api in
      try await Self.user("ada", daysTo18: -1000, api)
      try await Self.user("minor", daysTo18: 1, api)
      try await Self.user("adult", daysTo18: 0, api)
      let body = #"""
        {"kind":"marker","title":"x","min_age":18,"location":{"latitude":47.1,"longitude":9.6},
        "place":{"id":"club","name":"Club","coordinate":{"latitude":47.1,"longitude":9.6}}}
        """#
      let created = try await FieldTests.send(api, "POST", "/v1/posts", as: "ada", body)
      let post = try #require(created.json["id"].text)
      func number(_ value: JSONValue) -> Int { if case .number(let number) = value { Int(number) } else { -2 } }
      /// What a viewer reads: of the map without and with a condition, the place, and the author.
      func read(_ user: String) async throws -> [Int] {
        let area = "/v1/map?box=9,47,10,48"
        var counts: [Int] = []
        for path in [area, "\(area)&kind=marker"] {
          counts.append(try await FieldTests.send(api, "GET", path, as: user).json["cells"].elements.count)
        }
        let place = try await FieldTests.send(api, "GET", "/v1/places/club", as: user)
        counts.append(place.status == 404 ? -1 : number(place.json["counts"]["posts"]))
        let users = try await FieldTests.send(api, "GET", "/v1/places/club/users", as: user)
        counts.append(users.status == 404 ? -1 : users.json["items"].elements.count)
        counts.append(number(try await FieldTests.send(api, "GET", "/v1/users/ada", as: user).json["counts"]["posts"]))
        return counts
      }
      #expect(try await read("minor") == [0, 0, -1, -1, 0])
      // Who is old enough knows the place, and finds the post by the rows.
      let found = try await read("adult")
      #expect(found == [0, 1, 0, 0, 0])
      #expect(try await read("ada").last == 1)
      for (age, counts) in [("null", [1, 1, 1, 1, 1]), ("12", [0, 1, 0, 0, 0]), ("null", [1, 1, 1, 1, 1])] {
        #expect(try await FieldTests.send(api, "PATCH", "/v1/posts/\(post)", #"{"min_age":\#(age)}"#).status == 200)
        let found = try await read("minor")
        #expect(found == counts, "\(age)")
      }
      // A like is left of a post that became one for adults.
      #expect(try await FieldTests.send(api, "PUT", "/v1/users/minor/likes/\(post)", as: "minor").status == 200)
      #expect(try await FieldTests.send(api, "PATCH", "/v1/posts/\(post)", #"{"min_age":18}"#).status == 200)
      for (user, count) in [("minor", 0)] {
        let likes = try await FieldTests.send(api, "GET", "/v1/users/\(user)/likes?include=mine", as: user)
        #expect(likes.json["included"]["mine"]["posts"].names.count == count, "\(likes.text)")
      }
    }
  }

  @Test("an operator takes users of unknown age for minors")
  func unknown() async throws {
    try await UserClient.with { api in
      for user in ["ada", "unknown"] { try await Self.user(user, daysTo18: user == "ada" ? -1 : nil, api) }
      let created = try await FieldTests.send(
        api, "POST", "/v1/posts", as: "ada", #"{"kind":"marker","title":"x","min_age":18}"#)
      let path = try #require(created.headers["location"])
      for (admits, status) in [(false, 404), (true, 200)] {
        try await api.pool.run { try Store.setAgeRule(admitsUnknown: admits, $0) }
        #expect(try await FieldTests.send(api, "GET", path, as: "unknown").status == status)
        #expect(try await FieldTests.send(api, "GET", path, as: "ada").status == 200)
      }
    }
  }

  @Test("an age is a whole number from 1 to 120, in JSON and in a form")
  func valid() async throws {
    try await UserClient.with { api in
      for (age, isValid) in [("1", true), ("120", true), ("null", true), ("0", false), ("121", false), ("18.5", false)]
      {
        let response = try await FieldTests.post(api, "{}", #","min_age":\#(age)"#)
        #expect(isValid ? response.status == 201 : FieldTests.named(response) == ["min_age"], "\(age) \(response.text)")
      }
      for (age, isValid) in [("16", true), ("sixteen", false)] {
        var form = MultipartForm()
        let parts = [("kind", "marker"), ("author", "ada"), ("title", "Form"), ("min_age", age)]
        for (name, value) in parts { form.add(name, Array(value.utf8)) }
        let response = try await api.submit(form, headers: UserClient.backend)
        #expect(isValid ? response.json["min_age"] == .number(16) : FieldTests.named(response) == ["min_age"])
      }
    }
  }
}
