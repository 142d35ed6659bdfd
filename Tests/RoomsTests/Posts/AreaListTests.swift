import Model
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms
@testable import Store

/// Lists of the newest posts of an area, among many posts of a city.
@Suite("Lists of an area", .tags(.database), .timeLimit(.minutes(60)))
struct AreaListTests {
  private static let posts = 30_000
  /// What a list reads that sorts all posts of its area: in the index, in the table and in the subquery. It has been a multiple of all posts.
  private static let bound = 3 * PostListQuery.maxSorted
  private static let center = (longitude: 13.4, latitude: 52.5)

  /// Posts of a city 60 km wide, and some in the next country.
  private static let fill = """
    SET session_replication_role = replica;
    SELECT setseed(0.5);
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, longitude, latitude, created_at)
    SELECT gen_random_uuid(), 'ready', 'user' || n % 50, 'marker', 'public', 'front', 13.4 + random() - 0.5, 52.5 + (random() - 0.5) / 2,
      timestamptz '2026-11-01 00:00:00Z' + n * interval '1 second'
    FROM generate_series(1, \(posts)) AS n;
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, longitude, latitude, created_at)
    SELECT gen_random_uuid(), 'ready', 'ada', 'marker', 'public', 'front', 2.3 + random() / 10, 48.8 + random() / 10,
      timestamptz '2026-10-01 00:00:00Z' + n * interval '1 second'
    FROM generate_series(1, 300) AS n;
    SET session_replication_role = DEFAULT;
    VACUUM (ANALYZE) post
    """

  /// An area, and the condition of SQL that it has.
  struct Area: Sendable, CustomTestStringConvertible {
    let name: String
    let filter: PostFilter
    let condition: String

    var testDescription: String { name }
  }

  private static func near(_ meters: Int) throws -> Area {
    var filter = PostFilter(visibilities: [.public])
    let near: Nearness = try #require(
      Nearness(longitude: center.longitude, latitude: center.latitude, meters: meters))
    filter.near = near
    let distance = PostListQuery.distance(latitude: "\(center.latitude)", longitude: "\(center.longitude)")
    return Area(name: "\(meters) m", filter: filter, condition: "\(distance) <= \(meters * 1000)")
  }

  private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> Area {
    var filter = PostFilter(visibilities: [.public])
    let area: MapArea = try #require(MapArea(west: west, south: south, east: east, north: north))
    filter.area = area
    return Area(
      name: "\(west), \(south), \(east), \(north)", filter: filter,
      condition: "longitude BETWEEN \(west) AND \(east) AND latitude BETWEEN \(south) AND \(north)")
  }

  /// From a house to a continent: in some of them are few posts, in others nearly all.
  private static func areas() throws -> [Area] {
    try [near(50), near(1000), near(5000), near(20_000), near(100_000)]
      + [
        box(13.39, 52.49, 13.41, 52.51), box(13.2, 52.4, 13.6, 52.6), box(13.26, 52.26, 13.5, 52.5),
        box(12, 51.5, 15, 53.5), box(-10, 40, 25, 65),
      ]
      + [box(2, 48, 3, 49), box(0, 40, 10, 50)]
  }

  @Test("a page of the newest posts of an area reads little more than it has, whether the area has few posts or all")
  func bounded() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        for line in Self.fill.split(separator: ";") { try session.executeScript(String(line), name: "fill") }
        for area in try Self.areas() {
          var page = PageRequest(limit: 50)
          var listed: [String] = []
          for _ in 0..<3 {
            let found = try Posts.list(area.filter, for: .unrestricted, page, session)
            listed += found.items.map { "\($0.id)" }
            page.after = found.next
            if found.next == nil { break }
          }
          let newest = Statement(
            name: "newest",
            text: "SELECT public_id::text FROM post WHERE \(area.condition) ORDER BY created_at DESC, id DESC LIMIT 150"
          )
          #expect(try listed == session.execute(newest).map { try $0.get(0) }, "\(area.name)")

          let piece = try #require((area.filter.area ?? area.filter.near?.area)?.pieces.first)
          var read = 0
          _ = try Posts.newest(
            area.filter, .unrestricted, piece, PageRequest(limit: 50), isCrowded: try Posts.isCrowded(piece, session)
          ) { query in
            read += try StatementPlan(of: query.statement.text, query.parameters, session).rowsRead
            return Array(try session.execute(query.statement, query.parameters))
          }
          #expect(read <= Self.bound, "\(area.name): \(read) rows")
        }
      }
    }
  }

  @Test("a page of the posts in a polygon of the whole world reads at most three times of what one of a city reads")
  func world() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        for line in Self.fill.split(separator: ";") { try session.executeScript(String(line), name: "fill") }
        func read(_ corners: [(Double, Double)]) throws -> Int {
          var filter = PostFilter(visibilities: [.public])
          let area: MapArea = try #require(
            MapArea(polygons: [[corners.map { MapArea.Corner($0.0, $0.1) }]]))
          filter.area = area
          return try area.pieces.reduce(0) { read, piece in
            var read = read
            let isCrowded = try Posts.isCrowded(piece, session)
            _ = try Posts.newest(filter, .unrestricted, piece, PageRequest(limit: 50), isCrowded: isCrowded) { query in
              read += try StatementPlan(of: query.statement.text, query.parameters, session).rowsRead
              return Array(try session.execute(query.statement, query.parameters))
            }
            return read
          }
        }
        let city = try read([(13.3, 52.4), (13.5, 52.4), (13.6, 52.5), (13.5, 52.6), (13.3, 52.6), (13.2, 52.5)])
        #expect(city > 0)
        for world in [
          [(-180.0, -90.0), (180, -90), (180, 90), (-180, 90)], [(-180, -85), (-180, 85), (180, 85), (180, -85)],
          [(-250, -85), (250, -85), (250, 85), (-250, 85)],
        ] {
          #expect(try read(world) <= 3 * city, "\(world)")
        }
      }
    }
  }

  @Test("a list of some authors or of friends in an area has the posts that they have there")
  func authors() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        for line in Self.fill.split(separator: ";") { try session.executeScript(String(line), name: "fill") }
        try session.executeScript(
          """
          SET session_replication_role = replica;
          INSERT INTO relation (kind, user_id, target) VALUES ('friend', 'ada', 'user7'), ('friend', 'user7', 'ada');
          SET session_replication_role = DEFAULT
          """, name: "friends")
        for area in [try Self.near(1000), try Self.box(12, 51.5, 15, 53.5)] {
          var (few, feed) = (area.filter, area.filter)
          few.authors = ["user3", "user7"]
          feed.feed = "ada"
          for (filter, names) in [(few, "'user3', 'user7'"), (feed, "'ada', 'user7'")] {
            let found = try Posts.list(filter, for: .unrestricted, PageRequest(limit: 50), session)
            let expected = Statement(
              name: "newest",
              text:
                "SELECT public_id::text FROM post WHERE \(area.condition) AND author IN (\(names)) ORDER BY created_at DESC, id DESC LIMIT 50"
            )
            #expect(
              try found.items.map { "\($0.id)" } == session.execute(expected).map { try $0.get(0) },
              "\(area.name), \(names)")
          }
        }
      }
    }
  }
}
