import FoundationEssentials
import Glibc
internal import Model
internal import Postgres
internal import Queue
import SeededRandom

/// Synthetic users, posts and relations, skewed as life is: a history of a thousand posts per day, half of them in one of
/// two thousand cities; few users with most of the posts; a user with 5,000 friends; a post that every user likes.
///
/// Ten times as many posts are a history ten times as long, of ten times as many users.
struct ReadingData: Sendable {
  static let postsPerDay = 1000
  private static let postsPerUser = 10
  private static let postsPerPlace = 50
  private static let cities = 2000
  private static let maxFriends = 5000
  /// 2026-11-20T00:00:00Z, in microseconds: the end of the history.
  private static let end: Int64 = 1_795_132_800_000_000

  let posts: Int

  private var users: Int { posts / Self.postsPerUser }
  private var places: Int { posts / Self.postsPerPlace }
  private var friendships: Int { posts * 5 }
  private var likes: Int { posts * 10 }

  /// Fills the empty tables `post`, `app_user`, `spelling` and `relation`.
  ///
  /// Indexes of relations are created after the rows, and counters set at the end: both would take hours one by one.
  func generate(_ session: Session) throws {
    for (name, script) in [
      ("seed", "SELECT setseed(0.5)"),
      (
        "triggers",
        """
        ALTER TABLE post DISABLE TRIGGER USER; ALTER TABLE relation DISABLE TRIGGER USER;
        ALTER TABLE app_user DISABLE TRIGGER USER
        """
      ),
      ("users", insertUsers), ("spellings", Self.insertSpellings), ("posts", insertPosts),
      (
        "indexes",
        """
        CREATE TEMPORARY TABLE dropped AS SELECT indexdef FROM pg_indexes
          WHERE tablename = 'relation' AND indexname <> 'relation_pkey';
        DO $$ DECLARE definition record; BEGIN
          FOR definition IN SELECT conname FROM pg_constraint WHERE conrelid = 'relation'::regclass AND contype = 'u' LOOP
            EXECUTE format('ALTER TABLE relation DROP CONSTRAINT %I', definition.conname);
          END LOOP;
          FOR definition IN SELECT indexname FROM pg_indexes
            WHERE tablename = 'relation' AND indexname <> 'relation_pkey' LOOP
            EXECUTE format('DROP INDEX %I', definition.indexname);
          END LOOP;
        END $$
        """
      ),
      ("friendships", insertFriendships), ("likes", insertLikes), ("blocks", insertBlocks),
      (
        "create",
        """
        SET maintenance_work_mem = '1GB';
        DO $$ DECLARE definition record; BEGIN
          FOR definition IN SELECT indexdef FROM dropped LOOP EXECUTE definition.indexdef; END LOOP;
        END $$;
        DROP TABLE dropped
        """
      ),
      ("counters", Self.setCounters), ("places", insertPlaces), ("activity", Self.insertActivity),
      ("collections", insertCollections),
      (
        "enable",
        """
        ALTER TABLE post ENABLE TRIGGER USER; ALTER TABLE relation ENABLE TRIGGER USER;
        ALTER TABLE app_user ENABLE TRIGGER USER
        """
      ),
    ] { try session.executeScript(script, name: "bench.\(name)") }
    // The counters have doubled these two; relations are as they were inserted.
    for table in ["post", "app_user"] {
      try session.executeScript("VACUUM (FULL) \(table)", name: "bench.vacuum")
    }
    try session.executeScript("VACUUM (ANALYZE)", name: "bench.vacuum")
  }

  // MARK: Rows

  /// A third of the users share thirty given names, as life has it; family names are of three syllables.
  private var insertUsers: String {
    let syllables =
      "ARRAY['an','ber','cor','del','en','fal','gor','hol','in','jan','kel','lin','mor','nel','or','pel','ros','sal','tor','ven']"
    return """
      INSERT INTO app_user (id, user_name, name)
      SELECT 'user' || n, (\(syllables))[1 + n % 20] || (\(syllables))[1 + n / 20 % 20] || n,
        (\(syllables))[1 + floor(random() * random() * 20)::int] || (ARRAY['a', 'o', 'us', 'e'])[1 + n % 4] || ' '
        || (\(syllables))[1 + floor(random() * 20)::int] || (\(syllables))[1 + floor(random() * 20)::int]
        || (\(syllables))[1 + floor(random() * 20)::int]
      FROM generate_series(0, \(users - 1)) AS n
      """
  }

  private static let insertSpellings =
    "INSERT INTO spelling (word) SELECT DISTINCT word FROM app_user, unnest(spellings(folded_names)) AS word"

  private var insertPosts: String {
    """
    INSERT INTO post (public_id, kind, status, author, title, visibility, place_id, latitude, longitude, foreground,
                      created_at, comment_count, reaction_count, fields)
    SELECT gen_random_uuid(), (ARRAY['take5', 'photo', 'marker'])[1 + n % 3], 'ready',
      'user' || floor(\(users) * power(random(), 2))::int, 'Post ' || n,
      CASE WHEN random() < 0.8 THEN 'public' WHEN random() < 0.75 THEN 'friends' ELSE 'private' END,
      CASE WHEN n % 2 = 0 THEN 'place' || floor(\(places) * power(random(), 2))::int END,
      cos(city * 1.7) * 60 + (random() + random() - 1) * 0.3, sin(city * 2.3) * 179 + (random() + random() - 1) * 0.3,
      'front', to_timestamp(\(Self.end / 1_000_000)) - make_interval(secs => (\(posts) - n) * 86400.0 / \(Self.postsPerDay)),
      n % 7, n % 5,
      CASE WHEN n % 10 = 0 THEN jsonb_build_object('genre', (ARRAY['jazz', 'techno'])[1 + n / 10 % 2]) ELSE '{}' END
    FROM (
      SELECT n, CASE WHEN random() < 0.5 THEN 0 ELSE floor(random() * \(Self.cities))::int END AS city
      FROM generate_series(1, \(posts)) AS n) AS made
    """
  }

  private var insertFriendships: String {
    """
    INSERT INTO relation (kind, user_id, target, created_at)
    SELECT 'friend', 'user' || pair.a, 'user' || pair.b, to_timestamp(\(Self.end / 1_000_000)) - (pair.a + pair.b) * interval '1 minute'
    FROM (
      SELECT DISTINCT least(a, b) AS a, greatest(a, b) AS b FROM (
        SELECT 0 AS a, n AS b FROM generate_series(1, \(Self.maxFriends)) AS n
        UNION ALL
        SELECT floor(\(users) * power(random(), 1.5))::int, floor(\(users) * random())::int
        FROM generate_series(1, \(friendships))) AS made
      WHERE a <> b) AS unordered
    CROSS JOIN LATERAL (VALUES (unordered.a, unordered.b), (unordered.b, unordered.a)) AS pair (a, b)
    """
  }

  /// The first post is liked by every user, the others by few; the later ones of the history by most.
  private var insertLikes: String {
    """
    CREATE TEMPORARY TABLE numbered AS
      SELECT row_number() OVER (ORDER BY id) - 1 AS number, public_id::text AS post FROM post;
    CREATE UNIQUE INDEX ON numbered (number);
    INSERT INTO relation (kind, user_id, target, created_at)
    SELECT 'like', 'user' || liking, post, to_timestamp(\(Self.end / 1_000_000)) - liking * interval '1 minute'
    FROM (
      SELECT DISTINCT liking, number FROM (
        SELECT n AS liking, 0 AS number FROM generate_series(0, \(users - 1)) AS n
        UNION ALL
        SELECT floor(\(users) * random())::int, floor(\(posts) * (1 - power(random(), 3)))::int
        FROM generate_series(1, \(likes))) AS made) AS chosen
    JOIN numbered USING (number);
    DROP TABLE numbered
    """
  }

  private var insertBlocks: String {
    """
    INSERT INTO relation (kind, user_id, target)
    SELECT kind, 'user' || a, 'user' || b
    FROM (SELECT n AS blocking, (n * 7 + 1) % \(users) AS blocked FROM generate_series(0, \(users - 1)) AS n) AS made
    CROSS JOIN LATERAL (VALUES ('block', blocking, blocked), ('blocked', blocked, blocking)) AS side (kind, a, b)
    WHERE a <> b
    """
  }

  /// Each place has the position of its first post.
  private var insertPlaces: String {
    """
    INSERT INTO place (id, name, latitude, longitude, categories, post_count, author_count)
    SELECT place_id, 'Place ' || place_id, (array_agg(latitude ORDER BY id))[1], (array_agg(longitude ORDER BY id))[1],
      ARRAY[(ARRAY['cafe', 'museum', 'pier'])[1 + length(place_id) % 3]], count(*), count(DISTINCT author)
    FROM post WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'public' GROUP BY place_id;
    INSERT INTO place_user (place_id, user_id, posts)
    SELECT place_id, author, count(*) FROM post
    WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'public' GROUP BY place_id, author;
    INSERT INTO place (id)
    SELECT DISTINCT place_id FROM post WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'friends'
    ON CONFLICT DO NOTHING;
    INSERT INTO place_friend (place_id, user_id, posts, latitude, longitude)
    SELECT place_id, author, count(*), min(latitude), min(longitude) FROM post
    WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'friends' GROUP BY place_id, author
    """
  }

  private static let insertActivity = """
    INSERT INTO map_activity (period, level, cell, start, posts, longitudes, latitudes)
    SELECT period, level, cell, start, count(*), sum(round(position[0] * 1e6)::bigint),
      sum(round(position[1] * 1e6)::bigint)
    FROM post, map_cells(position, created_at)
    WHERE status = 'ready' AND visibility = 'public' AND map_cell IS NOT NULL AND period <> 'hour'
    GROUP BY period, level, cell, start
    """

  /// One collection of ten places for every fifth user, and one member each.
  private var insertCollections: String {
    """
    ALTER TABLE collection_item DISABLE TRIGGER USER; ALTER TABLE collection_member DISABLE TRIGGER USER;
    INSERT INTO collection (public_id, kind, author, name, fields, item_count, member_count, visibility)
    SELECT gen_random_uuid(), 'itinerary', 'user' || n, 'Trip ' || n, '{}', 10, 1, (ARRAY['public', 'friends', 'private'])[1 + n / 5 % 3]
    FROM generate_series(0, \(users - 1), 5) AS n;
    INSERT INTO collection_item (collection_id, position, place_id, fields)
    SELECT DISTINCT ON (id, place) id, n, place, '{}'::jsonb FROM (
      SELECT id, n, 'place' || floor(\(places) * power(random(), 2))::int AS place
      FROM collection, generate_series(1, 10) AS n) AS made;
    INSERT INTO collection_member (collection_id, user_id, role)
    SELECT id, 'user' || floor(\(users) * random())::int, 'viewer' FROM collection;
    ALTER TABLE collection_item ENABLE TRIGGER USER; ALTER TABLE collection_member ENABLE TRIGGER USER
    """
  }

  private static let setCounters = """
    UPDATE app_user SET public_posts = counted.public_posts, friends_posts = counted.friends_posts,
      private_posts = counted.private_posts
    FROM (
      SELECT author, count(*) FILTER (WHERE visibility = 'public') AS public_posts,
        count(*) FILTER (WHERE visibility = 'friends') AS friends_posts,
        count(*) FILTER (WHERE visibility = 'private') AS private_posts
      FROM post GROUP BY author) AS counted
    WHERE app_user.id = counted.author;
    UPDATE app_user SET friends = counted.friends
    FROM (SELECT user_id, count(*) AS friends FROM relation WHERE kind = 'friend' GROUP BY user_id) AS counted
    WHERE app_user.id = counted.user_id;
    UPDATE post SET like_count = counted.likes
    FROM (SELECT target, count(*) AS likes FROM relation WHERE kind = 'like' GROUP BY target) AS counted
    WHERE post.public_id = counted.target::uuid
    """

  // MARK: Values

  /// Returns a user; one of ten is the user with most friends, and users with many posts are more frequent.
  func user(_ random: inout SplitMix64) -> String {
    "user\(Int.random(in: 0..<10, using: &random) == 0 ? 0 : Self.skewed(users, &random))"
  }

  /// Returns the id of a post; one of ten is the post that every user likes.
  func post(_ random: inout SplitMix64, _ session: Session) throws -> PublicID {
    let number = Int.random(in: 0..<10, using: &random) == 0 ? 0 : Int.random(in: 0..<posts, using: &random)
    let rows = try session.execute("SELECT public_id FROM post ORDER BY id LIMIT 1 OFFSET $1", .integer(number))
    return try rows.single().publicID("public_id")
  }

  func collection(_ random: inout SplitMix64, _ session: Session) throws -> PublicID {
    let number = Int.random(in: 0..<users / 5, using: &random)
    let rows = try session.execute("SELECT public_id FROM collection ORDER BY id LIMIT 1 OFFSET $1", .integer(number))
    return try rows.single().publicID("public_id")
  }

  func place(_ random: inout SplitMix64) -> String { "place\(Self.skewed(places, &random))" }

  /// Returns a number below `count`: that of something popular more frequently.
  private static func skewed(_ count: Int, _ random: inout SplitMix64) -> Int {
    let value = Double.random(in: 0..<1, using: &random)
    return Int(Double(count) * value * value)
  }

  /// Returns a random time of the history, at least a day before its end.
  func time(_ random: inout SplitMix64) -> Int64 {
    let days = Int64(posts / Self.postsPerDay)
    return Self.end - Int64.random(in: 1...max(1, days), using: &random) * 86_400_000_000
  }

  /// Returns the first day of a random month of the history, such as `2026-11-01`.
  func month(_ random: inout SplitMix64) -> String {
    let date = Date(timeIntervalSince1970: Double(time(&random)) / 1e6)
    return date.formatted(Date.ISO8601FormatStyle().year().month().dateSeparator(.dash)) + "-01"
  }

  func box(_ random: inout SplitMix64) -> MapArea {
    let (longitude, latitude) = center(&random)
    return MapArea(
      west: max(-180, longitude - 0.1), south: latitude - 0.1, east: min(180, longitude + 0.1), north: latitude + 0.1)!
  }

  /// Returns a box that holds about as many places whatever the number of posts: who sees too many zooms in.
  func placeBox(_ random: inout SplitMix64) -> MapArea {
    let (longitude, latitude) = center(&random)
    let half = 0.1 * (100_000 / Double(posts)).squareRoot()
    return MapArea(
      west: max(-180, longitude - half), south: latitude - half, east: min(180, longitude + half),
      north: latitude + half)!
  }

  func polygon(_ random: inout SplitMix64) -> MapArea {
    let (longitude, latitude) = center(&random)
    let ring = (0..<8).map { corner in
      let angle = Double(corner) * .pi / 4
      return MapArea.Corner(min(180, max(-180, longitude + 0.12 * cos(angle))), latitude + 0.12 * cos(angle - .pi / 2))
    }
    return MapArea(polygons: [[ring]])!
  }

  /// Returns the center of a city, half of the times that with half of the posts.
  private func center(_ random: inout SplitMix64) -> (longitude: Double, latitude: Double) {
    let city = Bool.random(using: &random) ? 0 : Double(Int.random(in: 0..<Self.cities, using: &random))
    return (cos(city * 2.3 - .pi / 2) * 179, cos(city * 1.7) * 60)
  }
}
