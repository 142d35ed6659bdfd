import HTTPTesting
import Model
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("Lists of posts by fields", .tags(.database, .network), .timeLimit(.minutes(60)))
struct FieldSearchTests {
  private static let posts = [
    (#"{"genre":"jazz","price":5,"starts_at":"2026-12-01T22:00:00Z","free":true}"#, "5"),
    (#"{"genre":"techno","price":-5,"starts_at":"2026-12-02T00:30:00+02:00"}"#, "-5"),
    (#"{"genre":"jazz","price":20.5,"free":false,"note":"five"}"#, "20.5"),
  ]

  /// Stores posts and returns a list of prices by the query or the body of a search.
  private static func with(
    _ body: (RunningAPI, _ list: (String) async throws -> ClientResponse) async throws -> Void
  ) async throws {
    try await UserClient.with(FieldTests.setting) { api in
      for (fields, title) in posts {
        let more = #","caption":"\#(title)","location":{"latitude":52.5,"longitude":13.4}"#
        #expect(try await FieldTests.post(api, fields, more).status == 201)
      }
      try await body(api) { query in
        guard query.hasPrefix("{") else {
          return try await FieldTests.send(api, "GET", "/v1/posts?\(query)", as: "bob")
        }
        let polygon = #"{"type":"Polygon","coordinates":[[[13,52],[14,52],[14,53],[13,53],[13,52]]]}"#
        let search = #"{"polygon":\#(polygon),"fields":\#(query)}"#
        return try await FieldTests.send(api, "POST", "/v1/posts/search", as: "bob", search)
      }
    }
  }

  private static let cases = [
    ("field.genre=jazz", ["20.5", "5"]), ("field.genre=jazz&field.free=true", ["5"]), ("field.price=-5", ["-5"]),
    ("field.price=5.0", ["5"]), ("field.price.from=-5&field.price.to=20.5", ["-5", "5"]),
    ("field.price.from=6", ["20.5"]),
    ("field.starts_at=2026-12-01T22:30:00.000Z", ["-5"]), ("field.starts_at.from=2026-12-01T22:00:00Z", ["-5", "5"]),
    ("field.starts_at.to=2026-12-01T22:30:00Z", ["5"]), ("field.genre=techno&field.price.from=0", []),
    ("field.genre=jazz&near=13.4,52.5&sort=distance", ["5", "20.5"]),
    ("field.genre=jazz&box=13,52,14,53", ["20.5", "5"]), ("field.genre=jazz&author=eve&author=ada", ["20.5", "5"]),
    (#"{"genre":"jazz"}"#, ["20.5", "5"]), (#"{"price":{"from":-5,"to":20.5}}"#, ["-5", "5"]),
    (#"{"genre":"jazz","free":true,"starts_at":{"from":"2026-12-01T23:00:00+01:00"}}"#, ["5"]),
  ]

  @Test("a value or a range of searchable fields chooses the posts, with the other filters")
  func chosen() async throws {
    try await Self.with { api, list in
      for (query, titles) in Self.cases {
        let response = try await list(query)
        #expect(
          response.json["items"].elements.compactMap { $0["caption"].text } == titles, "\(query) \(response.text)")
      }
      let first = try await list("field.genre=jazz&limit=1").json
      let second = try await list("field.genre=jazz&limit=1&cursor=\(first["next"].text ?? "")").json
      #expect(second["items"].elements.compactMap { $0["caption"].text } == ["5"] && second["next"] == .null)
      // What the viewer does not see is not found by its fields.
      try await api.execute("UPDATE post SET visibility = 'private' WHERE caption = '5'")
      #expect(try await list("field.free=true&visibility=private").json["items"].elements.isEmpty)
    }
  }

  @Test("a field that is not searchable, a value of another type and a range of texts are refused by their names")
  func refused() async throws {
    try await Self.with { _, list in
      let cases = [
        ("field.note=five", ["field.note"]), ("field.more=1", ["field.more"]), ("field.genre=pop", ["field.genre"]),
        ("field.genre.from=jazz", ["field.genre.from"]), ("field.price=0x5", ["field.price"]),
        ("field.price=5&field.price.from=1", ["field.price"]), ("field.price.to=inf", ["field.price.to"]),
        ("field.free=1", ["field.free"]), ("field.starts_at.to=today", ["field.starts_at.to"]),
        (#"{"note":"five"}"#, ["fields.note"]), (#"{"genre":{"from":"jazz"}}"#, ["fields.genre"]),
        (#"{"price":{"from":"1","until":2}}"#, ["fields.price.from", "fields.price.until"]),
      ]
      for (query, names) in cases {
        let response = try await list(query)
        #expect(FieldTests.named(response) == names, "\(query)")
      }
    }
  }

  @Test("users are found by their fields, unless they have blocked the viewer")
  func users() async throws {
    try await UserClient.with(FieldTests.setting) { api in
      for (user, fields) in [("ada", #"{"city":"Köln","shoe":38}"#), ("bob", #"{"city":"Köln","shoe":45}"#)] {
        let saved = try await FieldTests.send(api, "PUT", "/v1/users/\(user)", as: user, #"{"fields":\#(fields)}"#)
        #expect(saved.status == 200, "\(saved.text)")
      }
      func found(_ query: String, as user: String = "eve") async throws -> [String] {
        let response = try await FieldTests.send(api, "GET", "/v1/users?\(query)", as: user)
        return response.status == 200
          ? response.json["items"].elements.compactMap { $0["id"].text } : FieldTests.named(response)
      }
      #expect(try await found("field.city=K%C3%B6ln") == ["ada", "bob"])
      #expect(try await found("field.city=K%C3%B6ln&limit=1") == ["ada"])
      #expect(try await found("field.city=K%C3%B6ln&field.shoe.from=40") == ["bob"])
      #expect(try await found("field.shoe.to=45") == ["ada"])
      #expect(try await found("field.city=Rome") == [])
      #expect(try await found("field.motto=x&field.city=Rome") == ["field.motto"])
      #expect(try await found("field.city=Rome&query=ada") == ["query"])
      #expect(try await FieldTests.send(api, "PUT", "/v1/users/ada/blocks/eve").status == 200)
      #expect(try await found("field.city=K%C3%B6ln") == ["bob"])
    }
  }

  @Test("a kind of collections has required and searchable fields of each type")
  func collections() async throws {
    let party = """
      {"name":"party","version":1,"items":{"of":"place","max":3,"fields":{"role":{"type":"choice","choices":["bar"],"required":true}}},
       "fields":{"starts_at":{"type":"time","required":true,"searchable":true},
                 "genre":{"type":"choice","choices":["jazz","techno"],"searchable":true},"note":{"type":"text"}}}
      """
    var setting = RunningAPI.Setting()
    setting.kinds = [try JSON.decode(CollectionDefinition.self, from: Array(party.utf8))]
    try await UserClient.with(setting) { api in
      func create(_ fields: String, _ more: String = "") async throws -> ClientResponse {
        try await FieldTests.send(
          api, "POST", "/v1/collections", #"{"kind":"party","name":"P","fields":\#(fields)\#(more)}"#)
      }
      #expect(try await FieldTests.named(create("{}")) == ["fields.starts_at"])
      #expect(
        try await FieldTests.named(create(#"{"starts_at":"8 pm","genre":"pop"}"#)) == [
          "fields.genre", "fields.starts_at",
        ])
      let items = #","items":[{"place":"a"}]"#
      #expect(try await FieldTests.named(create(#"{"starts_at":"2026-12-01T20:00:00Z"}"#, items)) == ["items[0].role"])
      let created = try await create(#"{"starts_at":"2026-12-01T20:00:00+01:00","genre":"jazz"}"#)
      #expect(created.json["fields"]["starts_at"].text == "2026-12-01T19:00:00.000Z", "\(created.text)")
      #expect(try await create(#"{"starts_at":"2026-12-02T20:00:00Z","genre":"jazz"}"#).status == 201)
      let path = try #require(created.headers["location"])
      let removed = try await UserClient.send(
        "PATCH", path, UserClient.backend + [("Take5-User", "ada"), ("If-Match", "*")],
        #"{"fields":{"starts_at":null}}"#, api)
      #expect(FieldTests.named(removed) == ["fields.starts_at"])
      func counted(_ query: String) async throws -> Int {
        let listed = try await FieldTests.send(api, "GET", "/v1/collections?kind=party&\(query)")
        return listed.status == 200 ? listed.json["items"].elements.count : -listed.status
      }
      #expect(try await counted("field.genre=jazz") == 2)
      #expect(try await counted("field.genre=jazz&field.starts_at.to=2026-12-02T00:00:00Z") == 1)
      #expect(try await counted("field.genre=techno") == 0)
      #expect(try await counted("field.note=x") == -400)
      #expect(try await FieldTests.send(api, "GET", "/v1/collections?field.genre=jazz").status == 400)
    }
  }

  @Test("a rare value is found by an index among many posts, and a frequent one by the order of the list")
  func plans() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(
          """
          SET session_replication_role = replica;
          INSERT INTO post (public_id, kind, status, author, visibility, foreground, created_at, fields)
          SELECT gen_random_uuid(), 'marker', 'ready', 'user' || n % 500, 'public', 'front',
            timestamptz '2026-11-01 00:00Z' + n * interval '1 second',
            jsonb_build_object('genre', CASE WHEN n % 10000 = 1 THEN 'jazz' ELSE 'techno' END, 'price', n)
          FROM generate_series(1, 40000) AS n;
          SET session_replication_role = DEFAULT;
          ANALYZE post
          """, name: "fill")
        for (genre, found) in [("jazz", 4), ("techno", 51)] {
          var filter = PostFilter()
          filter.fields = try FieldFilter(["genre": .equal(.text(genre))])
          let query = PostListQuery(filter, .user("bob"), nil, PageRequest(limit: 50))
          #expect(try session.execute(query.statement, query.parameters).map { $0 }.count == found)
          let read = try StatementPlan(of: query.statement.text, query.parameters, session).rowsRead
          #expect(read < 1000, "\(genre): \(read)")
        }
      }
    }
  }
}
