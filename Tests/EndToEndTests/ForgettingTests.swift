import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("Deleting a user", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct ForgettingTests {
  private static let posts = 1000

  @Test("a user with 1,000 posts is deleted completely, although the worker is killed ten times")
  func killed() async throws {
    let service = try await Service(workers: 0)
    let photo = "\(service.folder.path)/photo.jpg"
    try Descriptor(writing: photo, replacing: true).write(
      try PhotoFixture.jpeg(PhotoFixture.quarters(width: 400, height: 300)))
    // One post with real media of each author; the others are copies of their rows, with files of their own.
    for author in ["ada", "bob"] { try await Self.submit(photo, by: author, to: service) }
    let first = try await service.worker()
    try await until { try await service.count("SELECT count(*) FROM post WHERE status = 'ready'") >= 2 }
    await first.send(signal: SIGTERM)
    _ = await first.wait()
    try await service.execute(Self.script)
    let files = try service.blobFiles()
    let blobs = try await service.count("SELECT count(*) FROM blob")

    let port = try #require(service.url.split(separator: ":").last.flatMap { UInt16($0) })
    let response = try await request("DELETE", "/v1/users/ada", port: port)
    #expect(response.status == 202)
    let remaining = "SELECT count(*) FROM post WHERE author = 'ada'"
    let session = try Session.connect(service.database(), timeout: .seconds(30))
    try session.execute("SET idle_in_transaction_session_timeout = 0")
    for kill in 1...10 {
      // Each worker deletes 80 posts, waits for the next, which is locked, and is killed in the middle of the rest.
      try session.execute("BEGIN")
      try session.execute(Self.lock)
      let worker = try await service.worker(["--lease", "1"])
      try await until { try await service.count(remaining) <= Self.posts - kill * 80 }
      await worker.send(signal: SIGKILL)
      #expect(await worker.wait() == nil)
      #expect(try await service.count(remaining) == Self.posts - kill * 80)
      try session.execute("ROLLBACK")
    }
    let last = try await service.worker(["--lease", "1"])
    try await until { try await service.count("SELECT count(*) FROM forgetting") == 0 }
    try await until { try await service.count("SELECT count(*) FROM blob_release") == 0 }
    #expect(try await service.texts(Self.mentions) == [])
    #expect(try await service.count("SELECT count(*) FROM post") == 1)
    #expect(try await service.count("SELECT comment_count FROM post") == 0)
    #expect(try await service.count("SELECT count(*) FROM blob") < blobs)
    #expect(try service.blobFiles() <= files)
    await last.send(signal: SIGTERM)
    #expect(await last.wait() == 0)
    try await service.stop()
    let verify = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verify.status == 0, "\(verify.output) \(verify.errors)")
  }

  private static func submit(_ photo: String, by author: String, to service: Service) async throws {
    let post = Array(#"{"author":"\#(author)","kind":"photo"}"#.utf8)
    let response = try await service.send("/v1/posts", [("post", post), ("photo", try Service.bytes(of: photo))])
    #expect(response.status == 202, "\(String(decoding: response.body, as: UTF8.self))")
  }

  /// Gives Ada 1,000 posts with assets, comments and likes of events, and Bob's post 2,000 comments by Ada.
  private static let script = """
    DO $$
    DECLARE original post; number int; source bigint; outputs bigint; added bigint; small bytea;
    BEGIN
      SELECT * INTO original FROM post WHERE author = 'ada';
      FOR number IN 2..\(posts) LOOP
        small := sha256(convert_to('post ' || number, 'UTF8'));
        INSERT INTO blob (hash, bytes, inline_content)
        VALUES (sha256(small), 32, small);
        INSERT INTO asset_set (public_id) VALUES (gen_random_uuid()) RETURNING id INTO source;
        INSERT INTO asset_set (public_id, definition, recipe)
        SELECT gen_random_uuid(), definition, recipe FROM asset_set WHERE id = original.asset_set_id RETURNING id INTO outputs;
        INSERT INTO asset (public_id, asset_set_id, role, place, blob, type, bytes)
        SELECT gen_random_uuid(), source, role, place, blob, type, bytes FROM asset
        WHERE asset_set_id = original.source_set_id;
        INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes)
        VALUES (gen_random_uuid(), outputs, 'photo.small', sha256(small), 'image/jpeg', 32);
        INSERT INTO post (public_id, kind, status, author, visibility, foreground, source_set_id, asset_set_id)
        VALUES (gen_random_uuid(), 'photo', 'ready', 'ada', 'public', 'front', source, outputs) RETURNING id INTO added;
        INSERT INTO comment (public_id, post_id, author, text) VALUES (gen_random_uuid(), added, 'bob', 'Nice');
        UPDATE post SET comment_count = 1 WHERE id = added;
      END LOOP;
      INSERT INTO comment (public_id, post_id, author, text)
      SELECT gen_random_uuid(), post.id, 'ada', 'Nice' FROM post, generate_series(1, 2000) WHERE author = 'bob';
      UPDATE post SET comment_count = 2000 WHERE author = 'bob';
      UPDATE user_event_count SET last = last + 3000 WHERE user_id = 'ada';
      INSERT INTO user_event (user_id, number, kind, actor) SELECT 'ada', count.last - events.n, 'like', 'bob'
      FROM user_event_count AS count, generate_series(0, 2999) AS events (n) WHERE count.user_id = 'ada';
    END $$
    """

  /// Locks the post after Ada's next 80, and no other.
  private static let lock: Statement = """
    SELECT FROM post
    WHERE id = (SELECT id FROM post WHERE author = 'ada' ORDER BY id OFFSET 80 LIMIT 1) FOR UPDATE
    """

  /// A row that mentions Ada of each table that has one.
  private static let mentions = """
    SELECT relname || ': ' || (found)[1]::text FROM pg_class, xpath('/table/row/found/text()', query_to_xml(format(
      'SELECT row::text AS found FROM %I AS row WHERE row::text ~ ''\\mada\\M'' LIMIT 1', relname), false, false, '')) AS found
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND cardinality(found) > 0
    """
}
