import Model
import Platform
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms
@testable import Store

/// What a place costs that posts for friends alone describe: it depends on who reads it, and not on how many posts are there.
@Suite("Plans of places", .tags(.database), .timeLimit(.minutes(60)))
struct PlacePlanTests {
  /// The pages of the read of a place where the viewer has no friends.
  private static let base = 150
  /// The pages for each friend of the viewer, of a place or of one in a list of places.
  private static let perFriend = 40
  private static let manyFriends = 500

  /// Who reads, with the number of friends.
  private static let viewers: [(viewer: Viewer, friends: Int)] = [
    (.user("stranger"), 1), (.stranger, 0), (.user("ten"), 10), (.user("many"), manyFriends), (.user("user 7"), 0),
    (.unrestricted, 0),
  ]

  /// Many places with few posts, and users with other friends.
  private static let others = """
    SET session_replication_role = replica;
    INSERT INTO place (id) SELECT 'place ' || n FROM generate_series(1, 300) AS n UNION ALL SELECT 'campus';
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, place_id, asset_set_id)
    SELECT gen_random_uuid(), 'ready', 'user ' || n, 'marker', CASE WHEN n % 2 = 0 THEN 'friends' ELSE 'public' END, 'front',
      'place ' || 1 + n % 300, n FROM generate_series(1, 3000) AS n;
    INSERT INTO relation (user_id, target, kind)
    SELECT 'other ' || n % 100, 'other ' || n, 'friend' FROM generate_series(1, 2000) AS n
    UNION ALL SELECT 'stranger', 'other 1', 'friend' UNION ALL SELECT 'ten', 'user ' || 20 * n, 'friend' FROM generate_series(1, 10) AS n
    UNION ALL SELECT 'many', 'user ' || n || 'x', 'friend' FROM generate_series(2, \(manyFriends)) AS n
    UNION ALL SELECT 'many', 'user 77', 'friend'
    UNION ALL SELECT 'ten', gen_random_uuid()::text, 'like' FROM generate_series(1, 2000) AS n;
    INSERT INTO place_friend (place_id, user_id, posts)
    SELECT place_id, author, count(*) FROM post WHERE visibility = 'friends' GROUP BY place_id, author
    """

  private static func fill(_ users: ClosedRange<Int>) -> String {
    """
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, place_id, place_name, place_latitude, place_longitude, asset_set_id)
    SELECT gen_random_uuid(), 'ready', 'user ' || n, 'marker', 'friends', 'front', 'campus', 'Campus', 47.5, 9.5, n
    FROM generate_series(\(users.lowerBound), \(users.upperBound)) AS n;
    INSERT INTO place_friend (place_id, user_id, posts, name, latitude, longitude)
    SELECT 'campus', 'user ' || n, 1, 'Campus', 47.5, 9.5 FROM generate_series(\(users.lowerBound), \(users.upperBound)) AS n
    """
  }

  /// The statements that ask for a place, prepared.
  private static let probes: [(name: String, arguments: String)] = [
    ("place", "'campus'"), ("has_place", "'campus'"), ("lock_known_place", "'campus'"), ("places_by_id", "'{campus}'"),
  ]

  @Test(
    "a place of many posts for friends costs a stranger little, and a friend by the friend's own friends",
    arguments: [false, true])
  func bounded(isKnown: Bool) async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(Self.others, name: "others")
        if isKnown { try session.execute("UPDATE place SET favourite_count = 1 WHERE id = 'campus'") }
        for (name, _) in Self.probes {
          try session.executeScript("PREPARE \(name) AS \(Places.statements[name].text)", name: "PREPARE")
        }
        for users in [1...200, 201...2000] {
          try session.executeScript(Self.fill(users), name: "fill")
          for table in ["post", "place", "place_friend", "relation"] {
            try session.executeScript("VACUUM (ANALYZE) \(table)", name: "VACUUM")
          }
          for mode in ["force_generic_plan", "force_custom_plan"] {
            try session.executeScript("SET plan_cache_mode = \(mode)", name: "SET")
            for (viewer, friends) in Self.viewers {
              for (name, arguments) in Self.probes {
                let user = viewer == .unrestricted ? "NULL" : "'\(viewer.user ?? "")'"
                let pages = try StatementPlan(of: "EXECUTE \(name)(\(arguments), \(user))", [], session).pages
                #expect(
                  pages <= Self.base + friends * Self.perFriend,
                  "\(name) of \(users.upperBound) users for \(user): \(pages) pages with \(mode)")
              }
            }
          }
        }
      }
    }
  }

  /// What the statements say in one step for each row: the rule, without regard to the cost.
  private static let rule = """
    -- fragment: seen(friend, viewer)
    EXISTS (SELECT FROM post WHERE post.place_id = {friend}.place_id AND post.author = {friend}.user_id AND post.status = 'ready'
      AND post.visibility = 'friends' AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})})

    -- fragment: word(column, friend, viewer)
    (SELECT {column} FROM post WHERE post.place_id = {friend}.place_id AND post.author = {friend}.user_id AND post.status = 'ready'
      AND post.visibility = 'friends' AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})}
      AND {column} IS NOT NULL ORDER BY id DESC LIMIT 1)

    -- name: rule
    SELECT place.id, coalesce(place.name, said.name) AS name, coalesce(place.latitude, said.latitude) AS latitude,
      coalesce(photo.asset_set_id, picture.asset_set_id) AS asset_set_id
    FROM place
    LEFT JOIN LATERAL (
      SELECT {word(place_name, friend, $1)} AS name, {word(place_latitude, friend, $1)} AS latitude FROM place_friend AS friend
      WHERE (place.name IS NULL OR place.latitude IS NULL) AND NOT place.is_own AND friend.place_id = place.id AND {seen(friend, $1)}
      ORDER BY friend.latitude IS NULL, friend.name IS NULL, friend.user_id LIMIT 1) AS said ON true
    LEFT JOIN LATERAL (
      SELECT image.asset_set_id FROM image
      WHERE image.kind = 'place' AND image.owner = place.id AND image.asset_set_id IS NOT NULL AND NOT image.is_hidden
        AND {unblocked(image.author, $1)}
      ORDER BY image.id DESC LIMIT 1) AS photo ON true
    LEFT JOIN LATERAL (
      SELECT post.asset_set_id FROM post
      WHERE post.place_id = place.id AND post.asset_set_id IS NOT NULL AND post.visibility <> 'private' AND post.status = 'ready'
        AND {visible(post.author, post.visibility, post.moderation, post.status, $1)}
      ORDER BY post.created_at DESC, post.id DESC LIMIT 1) AS picture ON true
    WHERE (place.is_known OR EXISTS (SELECT FROM place_friend AS friend WHERE friend.place_id = place.id AND {seen(friend, $1)})
      OR EXISTS (SELECT FROM post WHERE post.place_id = place.id AND post.min_age IS NOT NULL AND post.status = 'ready'
        AND post.visibility = 'public' AND {visible(post.author, post.visibility, post.moderation, post.status, $1)}))
      AND (NOT place.is_hidden OR $1::text IS NULL)
    ORDER BY place.id
    """

  /// Posts of every status, visibility and age by users who are befriended, have blocked each other or are nothing to each other.
  private static let random = """
    SET session_replication_role = replica;
    SELECT setseed(0.3);
    INSERT INTO place (id, name, latitude, longitude, revision, is_own, is_hidden)
    SELECT 'place ' || n, CASE WHEN n % 5 = 0 THEN 'Named' END, CASE WHEN n % 7 = 0 THEN 1 END, CASE WHEN n % 7 = 0 THEN 1 END,
      (n % 3 = 0)::int, n % 11 = 0, n % 13 = 0 FROM generate_series(1, 40) AS n;
    INSERT INTO app_user (id, birth_date)
    SELECT 'user ' || n, CASE n % 3 WHEN 0 THEN current_date - 3000 WHEN 1 THEN current_date - 12000 END FROM generate_series(1, 30) AS n;
    INSERT INTO post (public_id, status, author, kind, visibility, foreground, place_id, place_name, place_latitude, place_longitude,
      asset_set_id, min_age, moderation, created_at)
    SELECT gen_random_uuid(), (ARRAY['ready', 'ready', 'ready', 'processing', 'hidden', 'held'])[1 + floor(random() * 6)],
      'user ' || floor(random() * 30), 'photo', (ARRAY['friends', 'friends', 'public', 'private'])[1 + floor(random() * 4)], 'front',
      'place ' || floor(random() * 40), CASE WHEN random() < 0.5 THEN 'Name ' || n END, CASE WHEN random() < 0.5 THEN n % 80 END, 9,
      CASE WHEN random() < 0.7 THEN n END, CASE WHEN random() < 0.4 THEN 18 END, CASE WHEN random() < 0.05 THEN 'hide' END,
      timestamptz '2026-11-01 00:00:00Z' + make_interval(secs => floor(random() * 30))
    FROM generate_series(1, 600) AS n;
    INSERT INTO place_friend (place_id, user_id, posts, name, latitude, longitude)
    SELECT place_id, author, count(*), (array_agg(place_name ORDER BY id DESC) FILTER (WHERE place_name <> ''))[1],
      (array_agg(place_latitude ORDER BY id DESC) FILTER (WHERE place_latitude IS NOT NULL))[1],
      (array_agg(place_longitude ORDER BY id DESC) FILTER (WHERE place_latitude IS NOT NULL))[1] FROM post
    WHERE visibility = 'friends' AND status = 'ready' AND place_id <> 'place 0' GROUP BY place_id, author;
    INSERT INTO relation (kind, user_id, target)
    SELECT (ARRAY['friend', 'friend', 'block', 'blocked', 'like'])[1 + floor(random() * 5)], 'user ' || floor(random() * 30),
      'user ' || floor(random() * 30) FROM generate_series(1, 300) AS n ON CONFLICT DO NOTHING;
    INSERT INTO image (public_id, kind, owner, author, status, asset_set_id)
    SELECT gen_random_uuid(), 'place', 'place ' || n, 'user ' || n % 30, 'ready', 10000 + n FROM generate_series(1, 40, 4) AS n;
    RESET session_replication_role;
    ANALYZE
    """

  @Test("each viewer knows the places, descriptions and pictures that the rule of visibility gives")
  func equal() async throws {
    let rule = Statements(topic: "rule", Store.fragments, EmbeddedText(Array(Self.rule.utf8)))["rule"]
    let viewers = [Viewer.unrestricted, .stranger, .user("newcomer")] + (0..<30).map { .user("user \($0)") }
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(Self.random, name: "random")
        let ids: [String] = try session.execute("SELECT id FROM place ORDER BY id").map { try $0.get("id") }
        var known = 0
        for viewer in viewers {
          func read(_ statement: Statement, _ parameters: [Parameter]) throws -> [[String?]] {
            try session.execute(statement, parameters).map { row in
              try [
                row.get("id"), row.get("name"), row.get("latitude", as: Double?.self).map { "\($0)" },
                row.get("asset_set_id", as: Int64?.self).map { "\($0)" },
              ]
            }
          }
          let expected = try read(rule, [viewer.parameter])
          let listed = try read(Places.statements["places_by_id"], [.texts(ids), viewer.parameter])
          #expect(listed == expected, "\(viewer)")
          for id in ids {
            let found = try read(Places.statements["place"], [.text(id), viewer.parameter])
            #expect(found == expected.filter { $0[0] == id }, "\(id) for \(viewer)")
            let isThere = try !session.execute(Places.statements["has_place"], .text(id), viewer.parameter).isEmpty
            #expect(isThere == !found.isEmpty, "\(id) for \(viewer)")
          }
          known += expected.count
        }
        // Neither all of them nor none.
        #expect((200...1200).contains(known), "\(known)")
      }
    }
  }
}
