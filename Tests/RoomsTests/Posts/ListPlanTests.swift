import Model
import Postgres
import Store
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms

/// What lists cost in a thin world with one strong city and one strong author, the first time and once PostgreSQL plans for unknown
/// parameters, from the sixth time on.
@Suite("Plans of lists", .tags(.database), .timeLimit(.minutes(60)))
struct ListPlanTests {
  /// The most pages of the tables that a page of a list reads.
  private static let most = 6000

  private static let world = """
    SET session_replication_role = replica;
    -- It would read pages too.
    ALTER TABLE post SET (autovacuum_enabled = off);
    ALTER TABLE place SET (autovacuum_enabled = off);
    SELECT setseed(0.7);
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, latitude, longitude, place_id, created_at, fields)
    SELECT gen_random_uuid(), 'ready', CASE WHEN n % 2 = 0 THEN 'strong' ELSE 'user ' || n % 3000 END, 'photo', 'public', 'front',
      CASE WHEN n % 10 < 9 THEN 0 + random() * 0.2 ELSE -60 + (n % 997) * 0.12 END,
      CASE WHEN n % 10 < 9 THEN 0 + random() * 0.2 ELSE -170 + (n % 1009) * 0.33 END,
      CASE WHEN n % 10 < 9 THEN 'strong' ELSE 'place ' || n % 997 END,
      timestamptz '2026-11-01 00:00:00Z' + make_interval(secs => n),
      CASE WHEN n % 10 = 0 THEN '{"genre":"jazz"}'::jsonb ELSE '{}' END
    FROM generate_series(1, 40000) AS n;
    INSERT INTO place (id, name, latitude, longitude, revision)
    SELECT 'place ' || n, 'Place', CASE WHEN n % 10 < 9 THEN random() * 0.2 ELSE -60 + (n % 997) * 0.12 END,
      CASE WHEN n % 10 < 9 THEN random() * 0.2 ELSE -170 + (n % 1009) * 0.33 END, 1 FROM generate_series(1, 5000) AS n;
    INSERT INTO relation (user_id, target, kind) SELECT 'fan', 'user ' || n * 5, 'friend' FROM generate_series(1, 600) AS n;
    RESET session_replication_role
    """

  private static let box = MapArea(west: -0.3, south: -0.3, east: 0.3, north: 0.3)

  private static let lists: [(name: String, change: @Sendable (inout PostFilter) throws -> Void)] = [
    ("a box", { $0.area = box }),
    ("friends in a box", { ($0.feed, $0.area) = ("fan", box) }),
    ("a feed", { $0.feed = "fan" }),
    ("a feed by a field", { ($0.feed, $0.fields) = ("fan", try FieldFilter(["genre": .equal(.text("jazz"))])) }),
    ("the strong author", { $0.authors = ["strong"] }),
    ("several authors", { $0.authors = ["strong", "user 7", "user 9"] }),
    ("a place", { $0.place = "strong" }),
  ]

  @Test("no list of posts and of places reads more than its page needs, however often it was read on a connection")
  func turnOver() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(Self.world, name: "world")
        for table in ["post", "place", "relation"] {
          try session.executeScript("VACUUM (ANALYZE) \(table)", name: "VACUUM")
        }
        // What this session read counts now: PostgreSQL would count it ten seconds later, beside a list.
        try session.execute("SELECT pg_stat_force_next_flush()")
      }
      for viewer in [Viewer.user("fan"), .unrestricted] {
        for (name, change) in Self.lists {
          var filter = PostFilter()
          try change(&filter)
          try await Self.expectBounded("\(name) for \(viewer)", fixture) { [filter] session in
            _ = try Posts.list(filter, for: viewer, PageRequest(), session)
          }
        }
        var places = PlaceFilter()
        places.area = Self.box
        try await Self.expectBounded("places for \(viewer)", fixture) { [places] session in
          _ = try Places.list(places, for: viewer, PageRequest(), session)
        }
      }
    }
  }

  /// Reads a list twelve times on a new connection.
  private static func expectBounded(
    _ name: String, _ fixture: StoreFixture, _ read: @escaping @Sendable (Session) throws -> Void
  ) async throws {
    let pool = Pool(fixture.url, size: 1)
    let pages = try await pool.run { session in
      try (0..<12).map { _ in
        let before = try touched(session)
        try read(session)
        return try touched(session) - before
      }
    }
    await pool.close()
    #expect(pages.max() ?? 0 <= most, "\(name): \(pages)")
    #expect(Double(pages[11]) <= Double(pages[0]) * 1.5 + 50, "\(name): \(pages)")
  }

  /// The pages of posts and places that were read since the server started.
  private static func touched(_ session: Session) throws -> Int {
    try session.execute("SELECT pg_stat_force_next_flush()")
    return try session.execute(
      """
      SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint
      FROM pg_statio_user_tables WHERE relname IN ('post', 'place')
      """
    ).single().get(0)
  }
}
