import HTTPTesting
import Model
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Rooms

@Suite("Lists of posts by fields", .tags(.database, .network), .timeLimit(.minutes(5)))
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
        let more = #","title":"\#(title)","location":{"latitude":52.5,"longitude":13.4}"#
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
        #expect(response.json["items"].elements.compactMap { $0["title"].text } == titles, "\(query) \(response.text)")
      }
      let first = try await list("field.genre=jazz&limit=1").json
      let second = try await list("field.genre=jazz&limit=1&cursor=\(first["next"].text ?? "")").json
      #expect(second["items"].elements.compactMap { $0["title"].text } == ["5"] && second["next"] == .null)
      // What the viewer does not see is not found by its fields.
      try await api.execute("UPDATE post SET visibility = 'private' WHERE title = '5'")
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
      for (query, names) in cases { #expect(try await FieldTests.named(list(query)) == names, "\(query)") }
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
