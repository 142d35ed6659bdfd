import HTTPTesting
import Model
import PostgresTesting
import Testing

@testable import Kit
@testable import Rooms

/// The filters of lists, searches, feeds and the map, which are the same.
@Suite("Filters", .tags(.database, .network), .timeLimit(.minutes(60)))
struct FilterTests {
  private static func hours(_ response: ClientResponse) -> String {
    guard case .array(let items) = response.json["items"] else { return "status \(response.status)" }
    return items.map { String(($0["title"].text ?? "").prefix(13).suffix(1)) }.joined()
  }

  private static func acting(as user: String?) -> [(String, String)] {
    UserClient.backend + (user.map { [("Take5-User", $0)] } ?? [])
  }

  private static func list(_ query: String, as user: String?, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("GET", "/v1/posts?" + query, acting(as: user), nil, api)
  }

  private static func search(_ body: String, as user: String?, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("POST", "/v1/posts/search", acting(as: user), body, api)
  }

  private static let square = #"{"type":"Polygon","coordinates":[[[0,40],[20,40],[20,60],[0,60],[0,40]]]}"#

  /// Ada, whose friend is Bob, and Mallory: posts at hours 1 to 8, in the square but for 6 and 8.
  private static func fill(_ api: RunningAPI) async throws {
    for user in ["ada", "bob", "mallory"] {
      #expect(try await UserClient.send("PUT", "/v1/users/\(user)", UserClient.backend, "{}", api).status == 200)
    }
    _ = try await UserClient.send("PUT", "/v1/users/ada/friends/bob", acting(as: "ada"), nil, api)
    #expect(try await UserClient.send("PUT", "/v1/users/bob/friends/ada", acting(as: "bob"), nil, api).status == 200)
    let swim = #"{"name":"Lake","categories":["swim"]}"#
    for (hour, author, visibility, kind, place, latitude): (Int, String, Visibility, PostKind, String?, Double) in [
      (1, "ada", .private, .marker, nil, 50), (2, "ada", .public, .photo, "lake", 50.01),
      (3, "bob", .friends, .marker, nil, 50.02),
      (4, "bob", .private, .marker, nil, 50), (5, "mallory", .public, .marker, "lake", 50.03),
      (6, "bob", .friends, .photo, "lake", 10), (7, "mallory", .friends, .marker, nil, 50),
      (8, "ada", .friends, .photo, nil, 10),
    ] {
      try await ListTests.post(
        api, at: "2026-11-20T0\(hour):00:00Z", author: author, kind: kind, place: place, visibility: visibility,
        latitude: latitude, longitude: 10)
    }
    #expect(try await UserClient.send("PUT", "/v1/places/lake", UserClient.backend, swim, api).status == 200)
  }

  @Test("a list of own or friends' posts has every visibility unless the request names one")
  func ownPosts() async throws {
    try await UserClient.with { api in
      try await Self.fill(api)
      for (user, query, expected) in [
        ("ada", "author=ada", "821"), ("ada", "author=ada&visibility=public", "2"), ("bob", "author=ada", "2"),
        (nil, "author=ada", "2"), ("ada", "author=ada&author=bob", "2"), ("ada", "friends=true", "86321"),
        ("ada", "friends=false", "52"), ("bob", "friends=true", "86432"), ("mallory", "friends=true", "75"),
        ("ada", "friends=true&visibility=friends", "863"), ("ada", "friends=true&kind=photo&kind=take5", "862"),
      ] as [(String?, String, String)] {
        #expect(Self.hours(try await Self.list(query, as: user, api)) == expected, "\(query) as \(user ?? "a key")")
      }
      #expect(Self.hours(try await Self.search(#"{"author":"ada"}"#, as: "ada", api)) == "821")
      #expect(Self.hours(try await Self.search(#"{"friends":true,"limit":2}"#, as: "ada", api)) == "86")
      let refused = try await Self.list("friends=true", as: nil, api)
      #expect(refused.status == 400 && UserClient.kind(refused) == "user_required")
    }
  }

  @Test("an area, friends, a place, its category and kinds are combined in lists, searches and feeds alike")
  func combined() async throws {
    try await UserClient.with { api in
      try await Self.fill(api)
      func feed(_ query: String) async throws -> String {
        Self.hours(try await UserClient.send("GET", "/v1/users/ada/feed?" + query, Self.acting(as: "ada"), nil, api))
      }
      for (query, body, expected) in [
        ("friends=true&box=0,40,20,60", #"{"friends":true,"polygon":\#(Self.square)}"#, "321"),
        ("friends=true&near=10,50", #"{"friends":true,"near":[10,50]}"#, "321"),
        (
          "friends=true&near=10,50&radius=1500&sort=distance",
          #"{"friends":true,"near":[10,50],"radius":1500,"sort":"distance"}"#, "12"
        ),
        (
          "friends=true&box=0,50.005,20,60&latitude=50&longitude=10&sort=distance",
          #"{"friends":true,"box":[0,50.005,20,60],"latitude":50,"longitude":10,"sort":"distance"}"#, "23"
        ),
        ("friends=true&category=swim", #"{"friends":true,"category":"swim"}"#, "62"),
        ("friends=true&place=lake&box=0,40,20,60", #"{"friends":true,"place":"lake","polygon":\#(Self.square)}"#, "2"),
        ("friends=true&category=food", #"{"friends":true,"category":"food"}"#, ""),
      ] {
        #expect(Self.hours(try await Self.list(query, as: "ada", api)) == expected, "\(query)")
        #expect(try await feed(query.replacing("friends=true&", with: "")) == expected, "\(query)")
        #expect(Self.hours(try await Self.search(body, as: "ada", api)) == expected, "\(body)")
      }
      #expect(Self.hours(try await Self.list("category=swim", as: nil, api)) == "52")
      #expect(Self.hours(try await Self.list("category=swim&kind=photo&kind=marker", as: "mallory", api)) == "52")
      #expect(Self.hours(try await Self.search(#"{"category":"swim","kind":["marker"]}"#, as: nil, api)) == "5")
      #expect(
        Self.hours(try await Self.search(#"{"polygon":\#(Self.square),"status":"processing"}"#, as: nil, api)) == "")
      #expect(Self.hours(try await Self.search("{}", as: nil, api)) == "52")
    }
  }

  @Test("what does not go together, and a point with exchanged coordinates, is refused by its name")
  func refused() async throws {
    try await UserClient.with { api in
      for (query, body, field) in [
        ("friends=true&author=bob", #"{"friends":true,"author":"bob"}"#, "author"),
        ("sort=taken", #"{"sort":"taken"}"#, "sort"),
        ("sort=taken&author=a&author=b", #"{"sort":"taken","author":["a","b"]}"#, "sort"),
        (
          "sort=taken&author=a&updated_since=2026-11-20T00:00:00Z",
          #"{"sort":"taken","author":"a","updated_since":"2026-11-20T00:00:00Z"}"#, "updated_since"
        ),
        ("sort=distance", #"{"sort":"distance"}"#, "sort"), ("radius=5", #"{"radius":5}"#, "radius"),
        ("near=1,1&latitude=1&longitude=1", #"{"near":[1,1],"latitude":1,"longitude":1}"#, "near"),
        ("latitude=1", #"{"latitude":1}"#, "longitude"),
        ("latitude=91&longitude=1", #"{"latitude":91,"longitude":1}"#, "latitude"),
        ("latitude=1&longitude=-181", #"{"latitude":1,"longitude":-181}"#, "longitude"),
        ("near=37.8,-122.4", #"{"near":[37.8,-122.4]}"#, "near"), ("near=1", #"{"near":[1]}"#, "near"),
        ("friends=yes", #"{"friends":"yes"}"#, "friends"), ("category=", #"{"category":""}"#, "category"),
        ("kind=film&kind=photo", #"{"kind":["film","photo"]}"#, "kind"), ("cursor=%21", #"{"cursor":"!"}"#, "cursor"),
        ("box=1,2,3", #"{"box":[1,2,3]}"#, "box"), ("id=7", #"{"id":["7"]}"#, "id"),
        ("color=red", #"{"color":"red"}"#, "color"),
        ("polygon=7", #"{"box":[1,2,3,4],"polygon":\#(Self.square)}"#, "polygon"),
      ] {
        for response in [try await Self.list(query, as: "ada", api), try await Self.search(body, as: "ada", api)] {
          #expect(response.status == 400 && response.json["errors"][0]["field"].text == field, "\(query)")
        }
      }
      let swapped = try await Self.list("near=37.8,-122.4", as: "ada", api)
      #expect(swapped.json["errors"][0]["detail"].text?.contains("as in -122.4,37.8") == true)
      for query in ["author=ada", "id=01a21128-2a26-7af0-84a8-24b517b379c8", "friends=true"] {
        let response = try await UserClient.send("GET", "/v1/users/ada/feed?" + query, Self.acting(as: "ada"), nil, api)
        #expect(response.status == 400, "\(query)")
      }
    }
  }

  @Test("what is listed near a point has its distance in meters, in any order and with an area; what is not has none")
  func distances() async throws {
    try await UserClient.with { api in
      for (hour, latitude) in [0, 0.009, 0.02].enumerated() {
        try await ListTests.post(
          api, at: "2026-11-20T0\(hour):00:00Z", place: "place\(hour)", latitude: latitude, longitude: 0)
        let place = #"{"name":"p","coordinate":{"latitude":\#(latitude),"longitude":0}}"#
        #expect(
          try await UserClient.send("PUT", "/v1/places/place\(hour)", UserClient.backend, place, api).status == 200)
      }
      func distances(_ response: ClientResponse) -> [Double?] {
        response.json["items"].elements.map { item in
          guard case .object(let members) = item, let distance = members["distance"] else { return nil }
          return if case .number(let meters) = distance { meters.rounded() } else { .nan }
        }
      }
      for query in [
        "near=0,0&sort=distance", "latitude=0&longitude=0&sort=distance", "near=0,0&sort=distance&box=-1,-1,1,1",
      ] {
        #expect(distances(try await Self.list(query, as: nil, api)) == [0, 1001, 2224], "\(query)")
        let places = try await UserClient.send("GET", "/v1/places?" + query, UserClient.backend, nil, api)
        #expect(distances(places) == [0, 1001, 2224], "\(query)")
      }
      #expect(distances(try await Self.list("near=0,0", as: nil, api)) == [2224, 1001, 0])
      let places = try await UserClient.send("GET", "/v1/places?near=0,0&radius=1500", UserClient.backend, nil, api)
      #expect(Set(distances(places)) == [0, 1001])
      #expect(distances(try await Self.list("box=-1,-1,1,1", as: nil, api)) == [nil, nil, nil])
      let ring = "[[-1,-1],[1,-1],[1,0.01],[-1,0.01],[-1,-1]]"
      let found = try await Self.search(
        #"{"polygon":{"type":"Polygon","coordinates":[\#(ring)]},"near":[0,0.02],"sort":"distance"}"#, as: nil, api)
      #expect(distances(found) == [1223, 2224])
    }
  }

  @Test("the posts of a calendar's day are listed by the time that the calendar goes by")
  func taken() async throws {
    try await UserClient.with { api in
      for (arrival, recording) in [
        ("2026-11-20T01:00:00Z", "2026-11-18T23:30:00Z"), ("2026-11-20T02:00:00Z", "2026-11-19T12:00:00Z"),
        ("2026-11-19T03:00:00Z", nil), ("2026-11-20T04:00:00Z", "2026-11-20T00:00:00Z"),
        ("2026-11-18T05:00:00Z", "2000-01-01T00:00:00Z"),
      ] as [(String, String?)] {
        try await ListTests.post(
          api, at: arrival, visibility: .private, latitude: arrival.contains("T02") ? 0 : 50, longitude: 10,
          capturedAt: recording)
      }
      let day = "author=ada&sort=taken&from=2026-11-18T23:00:00Z&to=2026-11-19T23:00:00Z"
      #expect(Self.hours(try await Self.list(day, as: "ada", api)) == "231")
      #expect(Self.hours(try await Self.list(day + "&box=0,40,20,60", as: "ada", api)) == "31")
      let first = try await Self.list("author=ada&sort=taken&limit=2", as: "ada", api)
      #expect(Self.hours(first) == "42")
      let next = try #require(first.json["next"].text)
      #expect(Self.hours(try await Self.list("author=ada&sort=taken&limit=3&cursor=\(next)", as: "ada", api)) == "315")
      // A calendar counts as many on the day.
      let month = try await UserClient.send(
        "GET", "/v1/users/ada/calendar?month=2026-11&zone=Europe/Berlin", Self.acting(as: "ada"), nil, api)
      #expect(month.json["days"].elements.map { $0["posts"] } == [.number(1), .number(3), .number(1)])
    }
  }

  @Test("a map counts the posts of a filter that its viewer sees")
  func map() async throws {
    try await UserClient.with { api in
      try await Self.fill(api)
      func posts(_ query: String, as user: String?) async throws -> [Double] {
        let map = try await UserClient.send("GET", "/v1/map?" + query, Self.acting(as: user), nil, api)
        #expect(map.status == 200, "\(query)")
        return map.json["cells"].elements.compactMap { if case .number(let posts) = $0["posts"] { posts } else { nil } }
      }
      #expect(try await posts("", as: "ada") == [2])
      #expect(try await posts("friends=true", as: "ada") == [3, 2])
      #expect(try await posts("author=ada&visibility=private&visibility=public", as: "ada") == [2])
      #expect(try await posts("author=ada", as: "mallory") == [1])
      #expect(try await posts("friends=true&kind=photo&box=0,40,20,60", as: "ada") == [1])
      #expect(try await posts("category=swim&near=10,50.03&radius=2500", as: "ada") == [1, 1])
      #expect(try await posts("place=lake&visibility=friends&visibility=public", as: "bob") == [2, 1])
      #expect(try await posts("author=ada&to=2026-01-01T00:00:00Z", as: "ada") == [])
      for wrong in ["sort=newest", "limit=5", "cursor=a-1", "updated_since=2026-01-01T00:00:00Z", "near=1", "id=7"] {
        let refused = try await UserClient.send("GET", "/v1/map?" + wrong, Self.acting(as: "ada"), nil, api)
        #expect(refused.status == 400, "\(wrong)")
      }
    }
  }
}
