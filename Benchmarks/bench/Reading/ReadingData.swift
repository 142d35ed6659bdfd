import FoundationEssentials
import Glibc
internal import Model
internal import Postgres
import SeededRandom

/// Synthetic posts: a history of a thousand posts per day, a hundred of each author, around two hundred cities.
///
/// Ten times as many posts are a history ten times as long, of ten times as many authors.
struct ReadingData: Sendable {
  static let postsPerDay = 1000
  private static let postsPerAuthor = 100
  private static let postsPerPlace = 50
  private static let cities = 200
  /// 2026-11-20T00:00:00Z, in microseconds: the end of the history.
  private static let end: Int64 = 1_795_132_800_000_000

  let posts: Int

  /// Fills the empty table `post`.
  func generate(_ session: Session) throws {
    try session.executeScript("SELECT setseed(0.5)", name: "bench.seed")
    try session.execute(
      """
      INSERT INTO post (public_id, kind, status, author, title, visibility, place_id, latitude, longitude, foreground,
                        created_at, comment_count, reaction_count)
      SELECT gen_random_uuid(), (ARRAY['take5', 'photo', 'marker'])[1 + n % 3], 'ready',
        'author' || floor(random() * \(authors))::int, 'Post ' || n,
        CASE WHEN random() < 0.8 THEN 'public' WHEN random() < 0.75 THEN 'friends' ELSE 'private' END,
        CASE WHEN n % 2 = 0 THEN 'place' || floor(random() * \(places))::int END,
        cos(city * 1.7) * 60 + (random() + random() - 1) * 0.3, sin(city * 2.3) * 179 + (random() + random() - 1) * 0.3,
        'front', to_timestamp(\(Self.end / 1_000_000)) - make_interval(secs => (\(posts) - n) * 86400.0 / \(Self.postsPerDay)),
        n % 7, n % 5
      FROM (SELECT n, floor(random() * \(Self.cities))::int AS city FROM generate_series(1, \(posts)) AS n) AS made
      """)
    try session.executeScript("VACUUM (ANALYZE) post", name: "bench.vacuum")
  }

  private var authors: Int { posts / Self.postsPerAuthor }
  private var places: Int { posts / Self.postsPerPlace }

  func author(_ random: inout SplitMix64) -> String { "author\(Int.random(in: 0..<authors, using: &random))" }

  func place(_ random: inout SplitMix64) -> String { "place\(Int.random(in: 0..<places, using: &random))" }

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

  func polygon(_ random: inout SplitMix64) -> MapArea {
    let (longitude, latitude) = center(&random)
    let ring = (0..<8).map { corner in
      let angle = Double(corner) * .pi / 4
      return MapArea.Corner(min(180, max(-180, longitude + 0.12 * cos(angle))), latitude + 0.12 * cos(angle - .pi / 2))
    }
    return MapArea(polygons: [[ring]])!
  }

  private func center(_ random: inout SplitMix64) -> (longitude: Double, latitude: Double) {
    let city = Double(Int.random(in: 0..<Self.cities, using: &random))
    return (cos(city * 2.3 - .pi / 2) * 179, cos(city * 1.7) * 60)
  }
}
