import Definitions
import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Lists of posts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ListTests {
  /// Stores a post without media as if it was submitted at a time.
  @discardableResult
  static func post(
    _ api: RunningAPI, at time: String, author: String = "ada", kind: PostKind = .marker, place: String? = nil,
    visibility: Visibility = .public, latitude: Double? = nil, longitude: Double? = nil, capturedAt: String? = nil
  ) async throws -> String {
    let definition = try #require(try Definitions.photo("photo-post"))
    var draft = PostDraft(kind: kind, author: author, title: time)
    draft.visibility = visibility
    draft.capturedAt = capturedAt.flatMap { JSON.date(from: $0) }
    draft.place = place.map { Place(id: $0, name: nil, coordinate: nil) }
    if let latitude, let longitude { draft.location = Coordinate(latitude: latitude, longitude: longitude) }
    let id = try await api.pool.transaction { [draft, store = api.store] session in
      let id = try store.submitPost(draft, sources: [], definition: .photos(definition), request: nil, session)
      try session.execute(
        "UPDATE post SET created_at = $1::timestamptz WHERE public_id = $2::uuid", .text(time), .text(id.description))
      return id
    }
    return id.description
  }

  /// Returns the titles of the posts in a list.
  private static func titles(_ response: ClientResponse) -> [String] {
    guard case .array(let items) = response.json["items"] else { return ["status \(response.status)"] }
    return items.compactMap { $0["title"].text }
  }

  @Test("pages are newest first and do not shift when posts are added")
  func pages() async throws {
    try await RunningAPI.with { api in
      for hour in 1...7 { try await Self.post(api, at: "2026-11-20T0\(hour):00:00Z") }
      let first = try await api.get("/v1/posts?limit=3")
      #expect(Self.titles(first) == [7, 6, 5].map { "2026-11-20T0\($0):00:00Z" })
      try await Self.post(api, at: "2026-11-20T09:00:00Z")
      let second = try await api.get("/v1/posts?limit=3&cursor=\(try #require(first.json["next"].text))")
      #expect(Self.titles(second) == [4, 3, 2].map { "2026-11-20T0\($0):00:00Z" })
      let third = try await api.get("/v1/posts?limit=3&cursor=\(try #require(second.json["next"].text))")
      #expect(Self.titles(third) == ["2026-11-20T01:00:00Z"])
      #expect(third.json["next"] == .null)
    }
  }

  @Test("authors whose ids look alike and differ in their bytes are two, and an author who is repeated is one")
  func alikeAuthors() async throws {
    try await RunningAPI.with { api in
      try await Self.post(api, at: "2026-11-01T00:00:00Z", author: "jos\u{E9}")
      try await Self.post(api, at: "2026-11-02T00:00:00Z", author: "jose\u{301}")
      let alike = try await api.get("/v1/posts?author=jos%C3%A9&author=jose%CC%81&author=jos%C3%A9")
      #expect(Self.titles(alike) == ["2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z"])
    }
  }

  @Test("lists are filtered by author, kind, place, time and visibility, and by combinations of them")
  func filters() async throws {
    try await RunningAPI.with { api in
      try await Self.post(api, at: "2026-11-01T00:00:00Z", author: "ada", place: "lake")
      try await Self.post(api, at: "2026-11-02T00:00:00Z", author: "ada", kind: .photo)
      try await Self.post(api, at: "2026-11-03T00:00:00Z", author: "bob", place: "lake")
      try await Self.post(api, at: "2026-11-04T00:00:00Z", author: "ada", visibility: .private)
      func days(_ query: String) async throws -> [String] {
        Self.titles(try await api.get("/v1/posts?" + query)).map { String($0.prefix(10).suffix(2)) }
      }
      #expect(try await days("") == ["03", "02", "01"])
      #expect(try await days("author=ada") == ["02", "01"])
      #expect(try await days("author=bob&author=ada&limit=100") == days("limit=100"))
      #expect(try await days("author=ada&author=unknown") == ["02", "01"])
      #expect(try await days("kind=photo") == ["02"])
      #expect(try await days("place=lake") == ["03", "01"])
      #expect(try await days("place=lake&author=bob&kind=marker") == ["03"])
      #expect(try await days("from=2026-11-02T00:00:00Z&to=2026-11-03T00:00:00Z") == ["02"])
      #expect(try await days("visibility=private") == ["04"])
      #expect(try await days("visibility=private&visibility=public&author=ada") == ["04", "02", "01"])
      #expect(try await days("status=processing") == [])
    }
  }

  @Test(
    "an invalid parameter is named in the errors",
    arguments: [
      ("limit=0", "limit"), ("limit=x", "limit"), ("kind=film", "kind"), ("from=yesterday", "from"),
      ("color=red", "color"),
      ("cursor=%21", "cursor"), ("box=1,2,3", "box"), ("box=1&box=2", "box"), ("box=10,60,20,50", "box"),
      ("author=", "author"),
      (String(repeating: "author=a&", count: 100) + "author=a", "author"),
    ])
  func invalidParameters(query: String, field: String) async throws {
    try await RunningAPI.with { api in
      let response = try await api.get("/v1/posts?\(query)")
      #expect(response.status == 400)
      #expect(response.json["type"] == .string("urn:take5:problem:invalid_query"))
      #expect(response.json["errors"][0]["field"] == .string(field))
    }
  }

  @Test("lists are filtered by box and polygon, with holes and across the antimeridian")
  func map() async throws {
    try await RunningAPI.with { api in
      let places: [(String, Double, Double)] = [
        ("2026-11-20T01:00:00Z", 52.5, 13.4), ("2026-11-20T02:00:00Z", 48.1, 11.6),
        ("2026-11-20T03:00:00Z", -17.7, 178),
        ("2026-11-20T04:00:00Z", -14, -172), ("2026-11-20T05:00:00Z", 0, 0), ("2026-11-20T06:00:00Z", -16, 180),
        ("2026-11-20T07:00:00Z", -16, -180),
      ]
      for (time, latitude, longitude) in places {
        try await Self.post(api, at: time, latitude: latitude, longitude: longitude)
      }
      try await Self.post(api, at: "2026-11-20T08:00:00Z")
      func hours(_ response: ClientResponse) -> String {
        Self.titles(response).map { String($0.prefix(13).suffix(1)) }.joined()
      }
      #expect(hours(try await api.get("/v1/posts?box=5,45,15,55")) == "21")
      // Some generated clients send the numbers as repeated parameters.
      #expect(hours(try await api.get("/v1/posts?box=5&box=45&box=15&box=55")) == "21")
      #expect(hours(try await api.get("/v1/posts?box=170,-20,-170,-10")) == "7643")
      #expect(hours(try await api.get("/v1/posts?box=-180,-90,180,90")) == "7654321")
      #expect(hours(try await api.get("/v1/posts?box=13.4,52.5,13.4,52.5")) == "1")
      #expect(hours(try await api.get("/v1/posts?box=179.9,-16.1,-179.9,-15.9")) == "76")
      let page = try await api.get("/v1/posts?box=170,-20,-170,-10&limit=3")
      #expect(hours(page) == "764")
      #expect(
        hours(try await api.get("/v1/posts?box=170,-20,-170,-10&cursor=\(try #require(page.json["next"].text))")) == "3"
      )
      func search(_ polygon: String) async throws -> ClientResponse {
        try await request(
          "POST", "/v1/posts/search", port: api.port, headers: [("Content-Type", "application/json")],
          body: Array(#"{"polygon":\#(polygon),"from":"2026-11-20T00:00:00Z"}"#.utf8))
      }
      let square = "[[0,40],[20,40],[20,60],[0,60],[0,40]]"
      #expect(hours(try await search(#"{"type":"Polygon","coordinates":[\#(square)]}"#)) == "21")
      let hole = "[[11,48],[12,48],[12,49],[11,49],[11,48]]"
      #expect(hours(try await search(#"{"type":"Polygon","coordinates":[\#(square),\#(hole)]}"#)) == "1")
      let pacific = "[[175,-20],[-170,-20],[-170,-10],[175,-10],[175,-20]]"
      #expect(hours(try await search(#"{"type":"Polygon","coordinates":[\#(pacific)]}"#)) == "7643")
      #expect(
        hours(try await search(#"{"type":"MultiPolygon","coordinates":[[\#(square)],[\#(pacific)],[\#(square)]]}"#))
          == "764321")
      for wrong in [
        #"{"type":"Point","coordinates":[1,2]}"#, #"{"type":"Polygon","coordinates":[[[0,0],[1,1]]]}"#, "7",
      ] {
        #expect(try await search(wrong).json["errors"][0]["field"] == .string("polygon"))
      }
    }
  }

  @Test("a search in an area is of authors and statuses as a list is")
  func searched() async throws {
    try await RunningAPI.with { api in
      var posts: [String] = []
      for (hour, author) in ["ada", "bob", "carl", "bob"].enumerated() {
        posts.append(
          try await Self.post(api, at: "2026-11-20T0\(hour):00:00Z", author: author, latitude: 50, longitude: 10))
      }
      try await api.pool.run { [posts] session in
        _ = try session.execute("UPDATE post SET status = 'failed' WHERE public_id = $1::uuid", .text(posts[3]))
      }
      func search(_ filters: String) async throws -> ClientResponse {
        let square = "[[0,40],[20,40],[20,60],[0,60],[0,40]]"
        return try await request(
          "POST", "/v1/posts/search", port: api.port, headers: [("Content-Type", "application/json")],
          body: Array(#"{"polygon":{"type":"Polygon","coordinates":[\#(square)]}\#(filters)}"#.utf8))
      }
      for (filters, expected) in [
        ("", "210"), (#","author":"bob""#, "1"), (#","author":["bob","ada"]"#, "10"), (#","author":[]"#, "210"),
        (#","status":["failed","ready"]"#, "3210"), (#","status":["failed"],"author":["bob"]"#, "3"),
        (#","status":[]"#, "210"), (#","status":"ready""#, "210"), (#","status":["failed"],"author":["ada"]"#, ""),
      ] {
        let titles = Self.titles(try await search(filters)).map { String($0.prefix(13).suffix(1)) }
        #expect(titles.joined() == expected, "\(filters)")
      }
      for (wrong, field) in [
        (#","author":[7]"#, "author"), (#","author":"""#, "author"), (#","author":["a","\u0000"]"#, "author"),
        (#","author":\#(Array(repeating: "ada", count: 101))"#, "author"), (#","status":["gone"]"#, "status"),
      ] {
        let response = try await search(wrong)
        #expect(response.status == 400 && response.json["errors"][0]["field"] == .string(field), "\(wrong)")
      }
    }
  }

  @Test("the calendar has an entry for each day with posts in the requested time zone")
  func calendar() async throws {
    try await RunningAPI.with { api in
      try await Self.post(api, at: "2026-10-31T22:30:00Z")
      let first = try await Self.post(api, at: "2026-10-31T23:30:00Z")
      try await Self.post(api, at: "2026-11-15T08:00:00Z")
      let latest = try await Self.post(api, at: "2026-11-15T20:00:00Z", visibility: .private)
      let last = try await Self.post(api, at: "2026-11-30T22:59:59Z")
      try await Self.post(api, at: "2026-11-30T23:00:00Z")
      try await Self.post(api, at: "2026-11-15T21:00:00Z", author: "bob")
      let response = try await api.get("/v1/users/ada/calendar?month=2026-11&zone=Europe/Berlin")
      guard case .array(let days) = response.json["days"] else { return #expect(response.status == 200) }
      #expect(days.map { $0["date"].text } == ["2026-11-01", "2026-11-15", "2026-11-30"])
      #expect(days.map { $0["post"].text } == [first, latest, last])
      #expect(days.map { $0["posts"] } == [.number(1), .number(2), .number(1)])
      for wrong in [
        "month=2026-13", "month=11", "zone=UTC", "month=2026-11&zone=Mars/Olympus",
        // A Kelvin sign, which is no K.
        "month=2026-11&zone=Asia/%E2%84%AAabul",
      ] {
        #expect(try await api.get("/v1/users/ada/calendar?\(wrong)").status == 400, "\(wrong)")
      }
    }
  }

  @Test("a calendar has a post on the day of its recording, if its clock is believable")
  func recordedDays() async throws {
    try await RunningAPI.with { api in
      for (arrival, recording) in [
        // Sent later, by a phone that was offline; by one whose clock is four minutes fast.
        ("2026-11-20T08:00:00Z", "2026-11-18T23:59:59Z"), ("2026-11-21T23:58:00Z", "2026-11-22T00:02:00Z"),
        // A clock that is an hour fast, and one that was never set.
        ("2026-11-23T23:30:00Z", "2026-11-24T00:30:00Z"), ("2026-11-25T08:00:00Z", "2000-01-01T00:00:00Z"),
      ] {
        try await Self.post(api, at: arrival, capturedAt: recording)
      }
      let response = try await api.get("/v1/users/ada/calendar?month=2026-11")
      guard case .array(let days) = response.json["days"] else { return #expect(response.status == 200) }
      #expect(days.map { $0["date"].text } == ["2026-11-18", "2026-11-22", "2026-11-23", "2026-11-25"])
    }
  }

  @Test("posts that have changed are listed with the latest change first; counts and readers change nothing")
  func changed() async throws {
    try await UserClient.with { api in
      var posts: [String] = []
      for hour in 1...4 {
        posts.append(try await Self.post(api, at: "2026-11-20T0\(hour):00:00Z", author: hour == 4 ? "bob" : "ada"))
        try await api.pool.run { [id = posts[hour - 1]] session in
          _ = try session.execute("UPDATE post SET updated_at = created_at WHERE public_id = $1::uuid", .text(id))
        }
      }
      func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> ClientResponse {
        try await UserClient.send(method, path, UserClient.backend, body, api)
      }
      func hours(_ query: String) async throws -> String {
        Self.titles(try await send("GET", "/v1/posts?" + query)).map { String($0.prefix(13).suffix(1)) }.joined()
      }
      #expect(try await hours("updated_since=2026-11-20T02:00:00Z") == "432")
      #expect(try await send("GET", "/v1/posts/\(posts[1])").json["updated_at"] == .string("2026-11-20T02:00:00.000Z"))
      // A change, and what is none: a comment, and a change to the same.
      let changed = try await send("PATCH", "/v1/posts/\(posts[0])", #"{"caption":"calm"}"#)
      #expect(changed.status == 200 && (changed.json["updated_at"].text ?? "") > "2026-11-20T04")
      #expect(try await send("POST", "/v1/posts/\(posts[1])/comments", #"{"author":"bob","text":"x"}"#).status == 201)
      #expect(try await send("PATCH", "/v1/posts/\(posts[2])", "{}").status == 200)
      #expect(try await hours("updated_since=2026-11-20T02:00:00Z") == "1432")
      #expect(try await hours("updated_since=2026-11-20T04:00:01Z") == "1")
      #expect(try await hours("updated_since=2026-11-20T00:00:00Z&author=ada") == "132")
      #expect(try await hours("updated_since=2026-11-20T00:00:00Z&author=ada&author=bob&limit=3") == "143")
      #expect(
        try await hours("updated_since=2026-11-20T00:00:00Z&from=2026-11-20T02:00:00Z&to=2026-11-20T04:00:00Z") == "32")
      let first = try await send("GET", "/v1/posts?updated_since=2026-11-20T00:00:00Z&limit=2")
      let next = try #require(first.json["next"].text)
      #expect(try await hours("updated_since=2026-11-20T00:00:00Z&limit=2&cursor=\(next)") == "32")
    }
  }

  @Test("posts near a point are sorted by their distance on a great circle, or by time, on pages")
  func near() async throws {
    try await RunningAPI.with { api in
      // Along a parallel a degree is shorter; one lies beyond the antimeridian, one beyond a pole.
      let places: [(Double, Double)] = [
        (60, 179.99), (60.009, 179.99), (60, -179.995), (60, 179.9), (60.5, 179.99), (89.999, 10), (89.999, -170),
      ]
      for (hour, (latitude, longitude)) in places.enumerated() {
        try await Self.post(api, at: "2026-11-20T0\(hour):00:00Z", latitude: latitude, longitude: longitude)
      }
      try await Self.post(api, at: "2026-11-20T08:00:00Z")
      func hours(_ query: String) async throws -> String {
        Self.titles(try await api.get("/v1/posts?" + query)).map { String($0.prefix(13).suffix(1)) }.joined()
      }
      // 0.015 degrees of longitude are 834 m there, 0.009 of latitude 1,001 m, 0.09 of longitude 5,003 m.
      #expect(try await hours("near=179.99,60&sort=distance") == "021")
      #expect(try await hours("near=179.99,60&radius=5100&sort=distance") == "0213")
      #expect(try await hours("near=179.99,60&radius=900&sort=distance") == "02")
      #expect(try await hours("near=179.99,60&radius=5100") == "3210")
      #expect(try await hours("near=179.99,60&radius=100000&sort=distance&from=2026-11-20T01:00:00Z") == "2134")
      #expect(try await hours("near=179.99,60&radius=100000&sort=distance&box=179,59,180,60.1") == "013")
      #expect(try await hours("near=10,90&radius=200") == "65")
      #expect(try await hours("near=10,89.999&radius=300&sort=distance") == "56")
      let first = try await api.get("/v1/posts?near=179.99&near=60&radius=5100&sort=distance&limit=2")
      #expect(Self.titles(first).map { String($0.prefix(13).suffix(1)) } == ["0", "2"])
      let next = try #require(first.json["next"].text)
      #expect(try await hours("near=179.99,60&radius=5100&sort=distance&limit=2&cursor=\(next)") == "13")
      #expect(try await hours("sort=newest&from=2026-11-20T05:00:00Z") == "865")
      for (wrong, field) in [
        ("near=1", "near"), ("near=181,0", "near"), ("near=0,0&radius=0", "radius"),
        ("near=0,0&radius=100001", "radius"),
        ("radius=5", "radius"), ("sort=distance", "sort"),
        ("near=0,0&sort=distance&updated_since=2026-11-20T00:00:00Z", "updated_since"),
        ("near=0,0&sort=best", "sort"), ("near=0x1,0", "near"),
      ] {
        let response = try await api.get("/v1/posts?" + wrong)
        #expect(response.status == 400 && response.json["errors"][0]["field"] == .string(field), "\(wrong)")
      }
    }
  }

  @Test("posts that are named by their ids are returned in any status, as far as the client sees them")
  func named() async throws {
    try await UserClient.with { api in
      let posts = [
        try await Self.post(api, at: "2026-11-20T01:00:00Z", author: "ada", visibility: .private),
        try await Self.post(api, at: "2026-11-20T02:00:00Z", author: "bob", visibility: .friends),
        try await Self.post(api, at: "2026-11-20T03:00:00Z", author: "bob"),
      ]
      try await Self.post(api, at: "2026-11-20T04:00:00Z", author: "bob")
      try await api.pool.run { session in
        _ = try session.execute("UPDATE post SET status = 'failed' WHERE public_id = $1::uuid", .text(posts[2]))
      }
      let query =
        "/v1/posts?"
        + (posts + posts + ["01a21128-2a26-7af0-84a8-24b517b379c8"]).map { "id=\($0)" }.joined(separator: "&")
      func titles(as user: String?, _ parameters: String = "") async throws -> [String] {
        let credential = UserClient.backend + (user.map { [("Take5-User", $0)] } ?? [])
        return Self.titles(try await UserClient.send("GET", query + parameters, credential, nil, api))
      }
      let times = ["2026-11-20T03:00:00Z", "2026-11-20T02:00:00Z", "2026-11-20T01:00:00Z"]
      #expect(try await titles(as: nil) == times)
      #expect(try await titles(as: "ada") == [times[2]])
      #expect(try await titles(as: "bob") == [times[0], times[1]])
      #expect(try await titles(as: nil, "&status=ready&visibility=friends") == [times[1]])
      for wrong in ["id=x", String(repeating: "id=\(posts[0])&", count: 101)] {
        let response = try await UserClient.send("GET", "/v1/posts?\(wrong)", UserClient.backend, nil, api)
        #expect(response.status == 400 && response.json["errors"][0]["field"] == .string("id"))
      }
    }
  }

  @Test("a feed has the posts of the user and of friends, the newest first, on pages, for the user alone")
  func feed() async throws {
    try await UserClient.with { api in
      func send(_ method: String, _ path: String, as user: String?) async throws -> ClientResponse {
        try await UserClient.send(
          method, path, UserClient.backend + (user.map { [("Take5-User", $0)] } ?? []), nil, api)
      }
      for user in ["bob", "eve", "dan"] {
        #expect(try await UserClient.send("PUT", "/v1/users/\(user)", UserClient.backend, "{}", api).status == 200)
      }
      for friend in ["bob", "eve"] {
        _ = try await send("PUT", "/v1/users/ada/friends/\(friend)", as: "ada")
        #expect(try await send("PUT", "/v1/users/\(friend)/friends/ada", as: friend).status == 200)
      }
      // Who has only been asked is not a friend.
      _ = try await send("PUT", "/v1/users/ada/friends/dan", as: "ada")
      for (hour, author, visibility) in [
        (1, "bob", Visibility.public), (2, "ada", .private), (3, "bob", .friends), (4, "bob", .private),
        (5, "eve", .public), (6, "dan", .public), (7, "mallory", .public), (8, "eve", .friends),
      ] {
        try await Self.post(api, at: "2026-11-20T0\(hour):00:00Z", author: author, visibility: visibility)
      }
      func hours(_ response: ClientResponse) -> String {
        Self.titles(response).map { String($0.prefix(13).suffix(1)) }.joined()
      }
      let path = "/v1/users/ada/feed"
      #expect(hours(try await send("GET", path, as: "ada")) == "85321")
      // A page of fewer posts than the user has friends has the friends whose latest posts are the newest.
      #expect(hours(try await send("GET", path + "?limit=1", as: "ada")) == "8")
      let first = try await send("GET", path + "?limit=2", as: "ada")
      #expect(hours(first) == "85")
      let next = try #require(first.json["next"].text)
      let second = try await send("GET", path + "?limit=2&cursor=\(next)", as: "ada")
      #expect(hours(second) == "32")
      #expect(hours(try await send("GET", path + "?from=2026-11-20T03:00:00Z&visibility=friends", as: "ada")) == "83")
      #expect(hours(try await send("GET", path + "?kind=photo&status=ready&status=processing", as: "ada")) == "")
      // A client that acts as no user gets what the user sees; another user does not.
      #expect(hours(try await send("GET", path, as: nil)) == "85321")
      let refused = try await send("GET", path, as: "bob")
      #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours")
      #expect(try await send("DELETE", "/v1/users/ada/friends/eve", as: "ada").status == 204)
      #expect(hours(try await send("GET", path, as: "ada")) == "321")
    }
  }
}
