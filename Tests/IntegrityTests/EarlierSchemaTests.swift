import Blobs
import Crypto
import Definitions
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Rooms
import Store
import Testing

/// A store of an earlier version, with rows of every table, goes on with this one.
@Suite("Schemas of earlier versions", .tags(.database), .timeLimit(.minutes(60)))
struct EarlierSchemaTests {
  private static let dump =
    "\(#filePath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined())/StoreTests/Versions/v0147.sql"

  private static let template = TestTemplate(name: "version_147") { session in
    let dump = try Descriptor(reading: dump).contents()
    try session.executeScript(String(decoding: dump, as: UTF8.self), name: "dump")
  }

  /// Everything that the catalogs say of the schema, except the partitions of days.
  private static let schema = """
    WITH relation AS (
      SELECT oid, relname::text AS name, relkind, reloptions FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relname !~ '^job_done_[0-9]')
    SELECT concat_ws(' ', relkind, name, reloptions) FROM relation
    UNION ALL SELECT concat_ws(' ', name, row_number() OVER (PARTITION BY attrelid ORDER BY attnum), attname,
        format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attstorage, pg_get_expr(adbin, adrelid))
      FROM relation JOIN pg_attribute ON attrelid = relation.oid AND attnum > 0 AND NOT attisdropped
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    UNION ALL SELECT concat_ws(' ', name, conname, convalidated, pg_get_constraintdef(pg_constraint.oid))
      FROM relation JOIN pg_constraint ON conrelid = relation.oid
    UNION ALL SELECT pg_get_indexdef(oid) FROM relation WHERE relkind IN ('i', 'I')
    UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) FROM relation JOIN pg_trigger ON tgrelid = relation.oid
      WHERE NOT tgisinternal
    UNION ALL SELECT concat_ws(' ', name, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle)
      FROM relation JOIN pg_sequence ON seqrelid = relation.oid
    UNION ALL SELECT pg_get_functiondef(pg_proc.oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    UNION ALL SELECT extname FROM pg_extension
    """

  private static func schema(_ session: Session) throws -> Set<String> {
    try Set(session.execute(Statement(name: "schema", text: schema)).map { try $0.get(0) })
  }

  /// The number of rows of each table that a version has; the list of migrations grows.
  private static func counts(_ session: Session) throws -> [String: Int] {
    let tables = try session.execute(
      """
      SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
        AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ('job_group', 'window_schedule', 'schema_migration')
      """
    ).map { try $0.get("name", as: String.self) }
    return try Dictionary(
      uniqueKeysWithValues: tables.map { table in
        let count = Statement(name: "count.\(table)", text: "SELECT count(*) FROM \(table)")
        return (table, try session.execute(count).single().get(0))
      })
  }

  @Test(
    "it gets the schema of a new store, its rows stay and are read, and its work continues", arguments: [147, 146])
  func goesOn(version: Int) async throws {
    let new = try await withDatabase { url in
      let session = try Session.connect(url, timeout: .seconds(5))
      try Migrator(.all).migrate(session)
      return try Self.schema(session)
    }
    let folder = try TemporaryFolder()
    try await withDatabase(Self.template) { url in
      let (path, pool) = ("\(folder.path)/blobs", Pool(url, size: 6))
      _ = try await DatabaseBlobs.open(in: .folder(path), isAdopting: true, pool)
      let blobs = try FolderBlobStore(folder: path)
      let store = Store(blobs: blobs, rooms: .all)
      let fixture = IntegrityFixture(folder: folder, blobs: blobs, store: store, pool: pool, url: url)
      let post = try await fixture.pool.run { session in
        try session.execute("DELETE FROM schema_migration WHERE version > $1", .integer(version))
        let before = try Self.counts(session)
        #expect(before.filter { $0.value == 0 }.isEmpty)
        let applied = try Migrator(.all).migrate(session)
        #expect(applied.map(\.version) == [Migration].all.map(\.version).filter { $0 > version })
        #expect(try Self.schema(session).symmetricDifference(new) == [])
        #expect(try Self.counts(session).filter { before.keys.contains($0.key) } == before)
        #expect(try Window.scheduled(session)?.schedule == "18:00-18:05 UTC")
        return try session.execute("SELECT public_id FROM post ORDER BY id LIMIT 1").single().publicID("public_id")
      }

      try await publishFiles(fixture)
      #expect(try await fixture.codes() == [])
      let read = try await fixture.post(post)
      #expect(read.status == .ready && read.draft.title == "Sunset")
      #expect(read.counts == PostCounts(comments: 1, reactions: 1, likes: 1))
      try await fixture.pool.run { session in
        let users = try People.list(like: "Lovelase", for: .unrestricted, limit: 5, session)
        #expect(users.map(\.profile.name) == ["Ada Lovelace"])
        #expect(try Places.find("lake", for: .unrestricted, session)?.description.name == "Lake")
      }
      // The post that waits for its outputs.
      try await fixture.work("c")
      #expect(try await fixture.count("post WHERE status = 'ready'") == 3)
      #expect(try await fixture.codes() == [])
      await fixture.pool.close()
    }
  }

  /// Publishes the files of the dump's blobs, whose texts are those of the fixture.
  private func publishFiles(_ fixture: IntegrityFixture) async throws {
    let roles = try ["front", "back"] + Definitions.take5Post().madeRoles.map(\.rawValue)
    let texts = roles.flatMap { role in ["a", "b", "c"].map { "\(role) \($0)" } } + ["crash"]
    let hashes = try await fixture.pool.run { session in
      try session.execute("SELECT hash FROM blob WHERE inline_content IS NULL OR hash = sha256('crash')").map {
        try $0.get(0, as: [UInt8].self)
      }
    }
    for hash in hashes {
      let text = try #require(texts.first { IntegrityFixture.hash($0).bytes == hash })
      try fixture.publishOrphan(text)
    }
  }
}
