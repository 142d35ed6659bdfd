import Model
import Postgres
import PostgresTesting
import Queue
import Store
import Testing

/// What a database of an older version has, after its migration.
@Suite("Descriptions of places from before", .tags(.database), .timeLimit(.minutes(5)))
struct DescriptionMigrationTests {
  private static let before = TestTemplate(name: "before_descriptions") { session in
    try Migrator(StoreMigrations.all.filter { $0.version < 130 }).migrate(session)
    try session.transaction(JobQueue.addPartitions)
  }

  /// Two places that one user has described, one of them where others post; one of a back-end; one that only posts name. And a moment whose
  /// job is in the history.
  private static let rows = """
    INSERT INTO post (public_id, kind, status, author, title, visibility, foreground, place_id, place_name, place_latitude, place_longitude)
    SELECT gen_random_uuid(), 'marker', status, author, 'Here', visibility, 'front', place, name, 47.5, longitude
    FROM (VALUES ('ready', 'ada', 'public', 'hall', 'Hall', 9.5), ('ready', 'ada', 'public', 'hall', NULL, 9.6),
      ('ready', 'bob', 'private', 'hall', 'Secret', 1.0), ('rejected', 'eve', 'public', 'hall', 'Rejected', 2.0),
      ('ready', 'bob', 'public', 'mill', 'Mill', 9.7))
      AS given (status, author, visibility, place, name, longitude);
    INSERT INTO place (id) VALUES ('barn'), ('shop') ON CONFLICT DO NOTHING;
    UPDATE place SET name = 'CLOSED', latitude = 0, longitude = 0, author = 'carl', revision = 1 WHERE id = 'hall';
    UPDATE place SET name = 'Barn', latitude = 1, longitude = 1, rating = 4, author = 'carl', revision = 1 WHERE id = 'barn';
    UPDATE place SET name = 'Shop', categories = '{gold}', revision = 2 WHERE id = 'shop';
    INSERT INTO post (public_id, kind, status, author, visibility, foreground, job)
    VALUES (gen_random_uuid(), 'take5', 'processing', 'ada', 'public', 'front', '01939f2c-7d1e-7f10-8a52-6c0de4b7a913');
    INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, created_at, arguments, result)
    VALUES (1, '01939f2c-7d1e-7f10-8a52-6c0de4b7a913', 'media', 'post', 'a', 1, 3, 0, clock_timestamp(), '{}', '{"moment":{"offset_seconds":0.18}}');
    """

  @Test(
    "each description becomes that of its author or of a back-end, posts say what they say, and moments have their offset"
  )
  func migrated() async throws {
    try await withDatabase(Self.before) { url in
      let pool = Pool(url, size: 1)
      let shown = try await pool.run { session in
        try session.executeScript(Self.rows, name: "rows")
        try Migrator(StoreMigrations.all).migrate(session)
        return try session.execute(
          """
          SELECT concat_ws(' ', id, name, latitude, longitude, rating, categories::text, author, revision) FROM place ORDER BY id
          """
        ).map { try $0.get(0, as: String.self) }
      }
      #expect(
        shown == [
          "barn Barn 1 1 4 {} carl 1", "hall Hall 47.5 9.6 {} carl 1", "mill Mill 47.5 9.7 {} 0", "shop Shop {gold} 2",
        ])
      let said = try await pool.run { session in
        try session.execute(
          "SELECT concat_ws(' ', place_id, rank, user_id, name) FROM place_description ORDER BY place_id, rank, user_id"
        ).map { try $0.get(0, as: String.self) }
      }
      #expect(said == ["barn 2 carl Barn", "hall 1 ada Hall", "hall 2 carl CLOSED", "mill 1 bob Mill", "shop 0  Shop"])
      let offset = try await pool.run { session in
        try session.execute("SELECT offset_seconds FROM post WHERE kind = 'take5'").single().get(0, as: Double?.self)
      }
      #expect(offset == 0.18)
      await pool.close()
    }
  }
}
