import FoundationEssentials
import Model
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms
@testable import Store

/// Lists by combinations of filters, compared with a statement that reads all posts.
@Suite("Combined filters", .tags(.database), .timeLimit(.minutes(60)))
struct FilterListTests {
  private static let center = (longitude: 13.4, latitude: 52.5)

  /// Posts of a city, of which more are in its middle than a list sorts, and of the whole earth; three places for swimming, and many for food.
  private static let fill = """
    SET session_replication_role = replica;
    SELECT setseed(0.25);
    INSERT INTO place (id, name, categories, revision)
    SELECT 'place' || n, 'p', CASE WHEN n < 3 THEN ARRAY['swim', 'food'] ELSE ARRAY['food'] END, 1 FROM generate_series(0, 1199) AS n;
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, longitude, latitude, place_id, created_at, captured_at, updated_at)
    SELECT gen_random_uuid(), 'ready', 'user' || n % 23, (ARRAY['take5', 'photo', 'marker'])[n % 3 + 1], 'public', 'front',
      CASE WHEN n % 4 = 0 THEN random() * 360 - 180 ELSE 13.4 + (random() - 0.5) * 0.3 END,
      CASE WHEN n % 4 = 0 THEN random() * 170 - 85 ELSE 52.5 + (random() - 0.5) * 0.2 END,
      CASE WHEN n % 5 < 3 THEN 'place' || (n * 7) % CASE WHEN n % 2 = 0 THEN 5 ELSE 1200 END END,
      at, at - random() * interval '20 days', at + random() * interval '9 days'
    FROM generate_series(1, 6000) AS n, LATERAL (SELECT timestamptz '2026-11-01 00:00:00Z' + n * interval '1 minute') AS time (at);
    INSERT INTO relation (kind, user_id, target) VALUES ('friend', 'user1', 'user7'), ('friend', 'user7', 'user1'),
      ('friend', 'user1', 'user9'), ('friend', 'user9', 'user1');
    SET session_replication_role = DEFAULT;
    VACUUM (ANALYZE)
    """

  /// A part of a filter, and the condition of SQL that it has.
  private struct Part: Sendable {
    let condition: String
    let apply: @Sendable (inout PostFilter) -> Void

    init(_ condition: String = "true", _ apply: @escaping @Sendable (inout PostFilter) -> Void = { _ in }) {
      self.condition = condition
      self.apply = apply
    }
  }

  private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> Part {
    let area = try #require(MapArea(west: west, south: south, east: east, north: north))
    return Part("longitude BETWEEN \(west) AND \(east) AND latitude BETWEEN \(south) AND \(north)") { $0.area = area }
  }

  private static func near(_ meters: Int, in box: Part? = nil) throws -> Part {
    let near = try #require(Nearness(longitude: center.longitude, latitude: center.latitude, meters: meters))
    let distance = PostListQuery.distance(latitude: "\(center.latitude)", longitude: "\(center.longitude)")
    return Part("\(distance) <= \(meters * 1000) AND \(box?.condition ?? "true")") { filter in
      filter.near = near
      box?.apply(&filter)
    }
  }

  private static func areas() throws -> [Part] {
    let ring = [(-180.0, -80.0), (180, -80), (180, 80), (-180, 80)].map { MapArea.Corner($0.0, $0.1) }
    let world = try #require(MapArea(polygons: [[ring]]))
    return [
      Part(), Part("latitude BETWEEN -80 AND 80") { $0.area = world }, try box(13.3, 52.45, 13.5, 52.55),
      try box(13.39, 52.49, 13.41, 52.51), try near(3000), try near(9000, in: box(-10, 40, 13.42, 65)),
      try near(100_000, in: box(13.4, 52.5, 13.43, 52.53)),
    ]
  }

  private static let people = [
    Part(), Part("author = 'user3'") { $0.authors = ["user3"] },
    Part("author IN ('user3', 'user5')") { $0.authors = ["user3", "user5"] },
    Part("author IN ('user1', 'user7', 'user9')") { $0.feed = "user1" },
  ]

  private static let places = [
    Part(), Part("'swim' = ANY (categories)") { $0.category = "swim" },
    Part("'food' = ANY (categories)") { $0.category = "food" }, Part("place_id = 'place2'") { $0.place = "place2" },
    Part("'none' = ANY (categories)") { $0.category = "none" },
  ]

  private static let kinds = [
    Part(),
    Part("kind IN ('photo', 'marker')") { $0.kinds = [.photo, .marker] },
  ]

  /// The orders that a filter may have, each with the key of SQL that is sorted.
  private static func orders(_ filter: PostFilter) -> [(
    key: String, condition: String, apply: (inout PostFilter) -> Void
  )] {
    let (from, to) = (1_793_700_000_000_000 as Int64, 1_793_850_000_000_000 as Int64)
    func range(_ column: String) -> String {
      "\(column) >= to_timestamp(\(from / 1_000_000)) AND \(column) < to_timestamp(\(to / 1_000_000))"
    }
    var orders: [(key: String, condition: String, apply: (inout PostFilter) -> Void)] = [
      ("created_at DESC, post.id DESC", "true", { _ in }),
      ("created_at DESC, post.id DESC", range("created_at"), { ($0.from, $0.to) = (from, to) }),
      ("updated_at DESC, post.id DESC", "updated_at >= to_timestamp(\(to / 1_000_000))", { $0.updatedSince = to }),
    ]
    if filter.authors.count == 1 {
      orders.append(
        ("taken_at DESC, post.id DESC", range("taken_at"), { ($0.order, $0.from, $0.to) = (.taken, from, to) }))
    }
    if filter.near != nil {
      let distance = PostListQuery.distance(latitude: "\(center.latitude)", longitude: "\(center.longitude)")
      orders.append(("\(distance), post.id", "true", { $0.order = .distance }))
    }
    return orders
  }

  @Test("every combination of filters has the posts that match each of them, in its order and on pages")
  func combinations() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        for line in Self.fill.split(separator: ";") { try session.executeScript(String(line), name: "fill") }
        var compared = 0
        for area in try Self.areas() {
          for (people, places) in Self.people.flatMap({ people in Self.places.map { (people, $0) } }) {
            for kinds in Self.kinds {
              let parts = [area, people, places, kinds]
              var filter = PostFilter(visibilities: [.public])
              for part in parts { part.apply(&filter) }
              for order in Self.orders(filter) {
                var ordered = filter
                order.apply(&ordered)
                let condition = (parts.map(\.condition) + [order.condition]).joined(separator: " AND ")
                let expected = Statement(
                  name: "brute",
                  text: """
                    SELECT public_id::text FROM post LEFT JOIN (SELECT id AS place, categories FROM place) AS place ON place = place_id
                    WHERE \(condition) ORDER BY \(order.key) LIMIT 30
                    """)
                #expect(
                  try Self.pages(ordered, session) == session.execute(expected).map { try $0.get(0) },
                  "\(condition) ORDER BY \(order.key)")
                compared += 1
              }
            }
          }
        }
        #expect(compared > 800)
      }
    }
  }

  /// The first two pages of 15 posts.
  private static func pages(_ filter: PostFilter, _ session: Session) throws -> [String] {
    let first = try Posts.list(filter, for: .user("user1"), PageRequest(limit: 15), session)
    guard let next = first.next else { return first.items.map { "\($0.id)" } }
    let second = try Posts.list(filter, for: .user("user1"), PageRequest(limit: 15, after: next), session)
    return (first.items + second.items).map { "\($0.id)" }
  }

  @Test("a map with filters counts the posts that match each of them, in the cells where they are")
  func counted() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        for line in Self.fill.split(separator: ";") { try session.executeScript(String(line), name: "fill") }
        for area in try Self.areas() {
          for (people, places) in Self.people.flatMap({ people in Self.places.map { (people, $0) } }) {
            let parts = [area, people, places]
            var filter = PostFilter(visibilities: [.public])
            for part in parts { part.apply(&filter) }
            let world = try #require(MapArea(west: -180, south: -90, east: 180, north: 90))
            let map = ActivityMap(filter.areas.read ?? world, from: nil, to: nil, now: .init())
            let cells = try Posts.activity(of: filter, on: map, for: .user("user1"), session)
            #expect(cells.map(\.posts) == cells.map(\.posts).sorted(by: >) && cells.count <= ActivityMap.maxCells)
            #expect(Set(cells.map(\.cell)).isSubset(of: map.cells))
            let condition = parts.map(\.condition).joined(separator: " AND ")
            let all = try session.execute(
              Statement(
                name: "brute",
                text: """
                  SELECT count(*), coalesce(sum(longitude), 0)::float8 FROM post
                  LEFT JOIN (SELECT id AS place, categories FROM place) AS place ON place = place_id WHERE \(condition)
                  """)
            ).single()
            #expect(try cells.map(\.posts).reduce(0, +) == all.get(0, as: Int.self), "\(condition)")
            let sum = cells.map { Double($0.posts) * $0.center.longitude }.reduce(0, +)
            #expect(try abs(sum - all.get(1, as: Double.self)) < 0.01, "\(condition)")
            for cell in cells {
              let box = ActivityMap.box(ofCell: cell.cell, level: map.level)
              #expect(
                box.west...box.east ~= cell.center.longitude && box.south...box.north ~= cell.center.latitude)
            }
          }
        }
      }
    }
  }
}
