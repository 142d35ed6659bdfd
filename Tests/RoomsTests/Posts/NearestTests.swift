import Model
import Postgres
import PostgresTesting
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("Lists by distance", .tags(.database), .timeLimit(.minutes(60)))
struct NearestTests {
  private static let center = (longitude: 13.4, latitude: 52.5)

  /// Stores posts and places, with positions that an SQL expression of `n` makes.
  private static func fill(_ count: Int, _ longitude: String, _ latitude: String, _ session: Session) throws {
    try session.executeScript(
      """
      SET session_replication_role = replica;
      INSERT INTO post (public_id, status, author, kind, visibility, foreground, longitude, latitude)
      SELECT gen_random_uuid(), 'ready', 'ada', 'marker', 'public', 'front', \(longitude), \(latitude)
      FROM generate_series(1, \(count)) AS n;
      INSERT INTO place (id, name, longitude, latitude, revision)
      SELECT gen_random_uuid()::text, 'p', \(longitude), \(latitude), 1 FROM generate_series(1, \(count)) AS n;
      SET session_replication_role = DEFAULT;
      ANALYZE post; ANALYZE place;
      """, name: "fill")
  }

  private static func near(meters: Int = 100_000) throws -> Nearness {
    try #require(Nearness(longitude: center.longitude, latitude: center.latitude, meters: meters))
  }

  /// The ids of posts, or the numbers of places, that are nearest by the same formula over all rows.
  private static func nearest(_ table: String, _ key: String, _ count: Int, _ session: Session) throws -> [String] {
    let distance = PostListQuery.distance(latitude: "\(center.latitude)", longitude: "\(center.longitude)")
    return try session.execute(
      Statement(
        name: "nearest",
        text:
          "SELECT \(key)::text FROM \(table) ORDER BY \(distance), \(table == "post" ? "id" : "number DESC") LIMIT \(count)"
      )
    ).map { try $0.get(0) }
  }

  @Test("of many posts and places around a point, a page reads its own, and little more")
  func bounded() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try Self.fill(20_000, "13.4 + (random() - 0.5) * 2", "52.5 + (random() - 0.5)", session)
        var filter = PostFilter(visibilities: [.public])
        (filter.near, filter.order) = (try Self.near(), .distance)
        var listed: [String] = []
        var page = PageRequest(limit: 40)
        for _ in 0..<5 {
          let found = try Posts.list(filter, for: .unrestricted, page, session)
          listed += found.items.map { "\($0.id)" }
          page.after = found.next
        }
        #expect(try listed == Self.nearest("post", "public_id", 200, session))

        var places = PlaceFilter()
        (places.near, places.order) = (filter.near, .distance)
        let found = try Places.list(places, for: .unrestricted, PageRequest(limit: 40), session)
        #expect(try found.items.map(\.id) == Self.nearest("place", "id", 40, session))

        let near = try #require(filter.near)
        let piece = try #require(near.area.pieces.first)
        let nearest = NearestFirst(near, piece, limit: 40)
        let posts = PostListQuery(filter, .unrestricted, piece, PageRequest(limit: 40), nearest)
        let ofPlaces = PlaceListQuery(places, .unrestricted, piece, PageRequest(limit: 40), nearest)
        for (statement, parameters, index) in [
          (posts.statement, posts.parameters, "post_position"),
          (ofPlaces.statement, ofPlaces.parameters, "place_area"),
        ] {
          let plan = try Self.plan(statement, parameters, session)
          let scan = try #require(plan.first { $0.contains(index) })
          #expect(scan.contains("Index"))
          let rows = try #require(scan.firstMatch(of: /actual rows=(\d+)/).flatMap { Int($0.1) })
          #expect(rows <= nearest.count, "\(plan.joined(separator: "\n"))")
        }
      }
    }
  }

  @Test("posts at one place are listed by their ids, and far too many at one distance are refused")
  func ties() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try Self.fill(300, "13.41", "52.5", session)
        var filter = PostFilter(visibilities: [.public])
        (filter.near, filter.order) = (try Self.near(), .distance)
        var (listed, page): ([String], PageRequest) = ([], PageRequest(limit: 70))
        repeat {
          let found = try Posts.list(filter, for: .unrestricted, page, session)
          listed += found.items.map { "\($0.id)" }
          page.after = found.next
        } while page.after != nil
        #expect(try listed == Self.nearest("post", "public_id", 300, session))
        try Self.fill(10_000, "13.42", "52.5", session)
        #expect(throws: TooManyNearby.self) {
          page.after = nil
          let deadline = Deadline("the page that is refused")
          while true {
            try deadline.check()
            page.after = try Posts.list(filter, for: .unrestricted, page, session).next
          }
        }
      }
    }
  }

  private static func plan(_ statement: Statement, _ parameters: [Parameter], _ session: Session) throws -> [String] {
    try session.snapshot { session in
      try session.execute(Store.statements["read_in_order_of_index"])
      return try session.execute(
        Statement(name: "plan", text: "EXPLAIN (ANALYZE, TIMING OFF) " + statement.text), parameters
      ).map { try $0.get(0) }
    }
  }
}
