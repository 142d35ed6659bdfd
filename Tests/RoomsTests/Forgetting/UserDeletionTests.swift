import Blobs
import Crypto
import Definitions
import FoundationEssentials
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("The deletion of a user", .tags(.database), .timeLimit(.minutes(60)))
struct UserDeletionTests {
  /// The user who is deleted. No other text in the database contains the name.
  private static let user = "forgotten-ada/ä\"1"

  @Test("a deletion that is requested while another one ends is another one")
  func ending() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      let first = try await pool.transaction { session in
        // After the conflict with the deletion that is running, and before it is read, the statement waits for a lock.
        try session.executeScript(
          """
          CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
          CREATE TRIGGER wait_for_test AFTER INSERT ON forgetting FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test();
          """, name: "test")
        return try Forgetting.start(Self.user, request: nil, session, check: { _ in }).job
      }
      let isHeld = OneShot<Void>()
      let gate = Channel<Int>(capacity: 1)
      async let holding: Void = onThread("lock") {
        defer { isHeld.fulfil(()) }
        try Session.connect(fixture.url, timeout: .seconds(5)).transaction { session in
          try session.execute("SELECT pg_advisory_xact_lock(4711)")
          isHeld.fulfil(())
          _ = gate.take()
        }
      }
      await isHeld.value
      async let second = pool.transaction { session in
        try Forgetting.start(Self.user, request: nil, session, check: { _ in }).job
      }
      try await until { try await fixture.count("pg_locks WHERE locktype = 'advisory' AND NOT granted") != 0 }
      try await pool.run { _ = try $0.execute("DELETE FROM forgetting") }
      gate.close()
      try await holding
      #expect(try await second != first)
      #expect(try await fixture.count("forgetting") == 1)
    }
  }

  @Test("nothing mentions the user afterwards, whatever interrupts the batches, and what is of others stays")
  func complete() async throws {
    try await StoreFixture.with { fixture in
      let (store, pool) = (fixture.store, fixture.pool)
      let bobs = try await fixture.submit("bob front", "bob back", draft: PostDraft(author: "bob"))
      try await fixture.publish(fixture.claim(), "bob")
      try await fixture.fill(Self.user, on: bobs)
      #expect(try await fixture.tables(mentioning: Self.user).count > 8)
      let uploads = [Self.user, "bob"].map { user in
        UploadRecord(user: user, length: 5, metadata: nil, createdAt: .now, expiresAt: .distantFuture)
      }
      for upload in uploads { try store.blobs.uploads().create(upload) }
      let job = try await pool.transaction { session in
        let job = try Forgetting.start(Self.user, request: nil, session, check: { _ in })
        // The deletion is requested again, while it runs.
        #expect(try Forgetting.start(Self.user, request: nil, session, check: { _ in }).job == job.job)
        return job.job
      }
      let batches = try await fixture.perform(job)
      #expect(batches > 5)
      #expect(try await fixture.tables(mentioning: Self.user) == [])
      let deadline = Deadline("the last released blob")
      while try await store.collecting.collectReleased(pool).examined > 0 { try deadline.check() }
      let left = try await fixture.post(bobs)
      #expect(left.counts == PostCounts(comments: 1, reactions: 0, likes: 0) && left.assets[.composed] != nil)
      #expect(try await fixture.count("relation") == 0)
      #expect(try await fixture.count("app_user WHERE friends <> 0") == 0)
      for (table, rows) in [
        ("post", 1), ("image", 0), ("comment", 2), ("place", 2), ("place_note", 1),
        ("place_rating", 1), ("place WHERE rating_count = 1 AND rating_halves = 8", 1),
        ("place WHERE comment_count = 1", 1), ("collection", 1), ("collection_member", 0),
        ("collection WHERE member_count = 0 AND comment_count = 0 AND item_count = 1", 1), ("collection_activity", 3),
        ("place WHERE collection_count = 1", 1), ("moderation_case", 2), ("report", 0), ("suspension", 0),
        ("place_description", 1), ("place WHERE name = 'Lake'", 2),
      ] {
        #expect(try await fixture.count(table) == rows, "\(table)")
      }
      // The sources and outputs of the post that stays.
      #expect(try await fixture.count("blob") == 4)
      try await fixture.checkFiles()
      #expect(try store.blobs.uploads().all() == [uploads[1].id])
      // The numbers of the events of others have no gaps, and the events say nothing.
      let events = try await pool.run { try Events.list(of: "bob", after: 0, limit: 10, $0) }
      #expect(events.map(\.number) == Array(1...Int64(events.count)))
      #expect(
        events.filter { $0.kind == UserEvent.blank && $0.actor == nil && $0.post == nil }.count == events.count - 1)
      // The id belongs to a new user.
      _ = try await fixture.submit("new front", "new back", draft: PostDraft(author: Self.user))
    }
  }

  @Test("nothing is stored for a user who is being deleted")
  func refused() async throws {
    try await StoreFixture.with { fixture in
      let (store, pool) = (fixture.store, fixture.pool)
      let post = try await fixture.submit()
      _ = try await pool.transaction { try Forgetting.start(Self.user, request: nil, $0, check: { _ in }) }
      let refusal = ForgottenRefusal(user: Self.user)
      await #expect(throws: refusal) { try await fixture.submit(draft: PostDraft(author: Self.user)) }
      let definition = try #require(try Definitions.photo("reaction"))
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("photo"))
      for draft in [
        ImageDraft(kind: .reaction, owner: "\(post)", author: Self.user), ImageDraft(kind: .profile, owner: Self.user),
      ] {
        await #expect(throws: refusal) {
          try await store.transaction(publishing: [source], pool) { session in
            _ = try Images.submit(
              draft, for: .unrestricted, source: source, definition: definition, request: nil, store, session)
          }
        }
      }
      await #expect(throws: refusal) {
        try await pool.transaction { session in
          _ = try Comments.insert(on: .post(post), for: .unrestricted, author: Self.user, text: "Nice", session)
        }
      }
      await #expect(throws: refusal) {
        try await pool.run { session in
          _ = try Tokens.insert(
            of: Self.user, hash: SHA256.digest(of: []), minter: .operatorKey, grant: nil, lifetime: 60, session)
        }
      }
      try await pool.run { try Store.notify(Self.user, of: .like, by: "bob", post: post, $0) }
      #expect(try await fixture.count("user_event") == 0)
    }
  }
}

extension StoreFixture {
  /// Stores something of each kind for a user.
  fileprivate func fill(_ user: String, on other: PublicID) async throws {
    let store = store
    for number in 0..<3 {
      let draft = PostDraft(author: user, caption: "Mine")
      _ = try await submit("\(number) front", "\(number) back", draft: draft)
      if number > 0 { try await publish(claim(), "\(number)") }
    }
    let definition = try #require(try Definitions.photo("reaction"))
    let drafts = [
      ImageDraft(kind: .reaction, owner: "\(other)", author: user), ImageDraft(kind: .profile, owner: user),
      ImageDraft(kind: .place, owner: "lake", author: user),
    ]
    for draft in drafts {
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try seal("photo \(draft.kind)"))
      try await store.transaction(publishing: [source], pool) { session in
        _ = try Images.submit(
          draft, for: .unrestricted, source: source, definition: definition, request: nil, store, session)
      }
    }
    // The oldest job belongs to the post whose media are still processed.
    let working = try await claim()
    #expect(working.work.subject.kind == "post")
    for _ in drafts { try await publish(claim(), "photo") }
    let token = SHA256.digest(of: Array(user.utf8))
    try await pool.transaction { session in
      var comments: [String: PublicID] = [:]
      for author in ["bob", user] {
        comments[author] = try Comments.insert(
          on: .post(other), for: .unrestricted, author: author, text: "Nice", session)?.id
      }
      let mine = try session.execute("SELECT public_id FROM post WHERE author = $1 LIMIT 1", .text(user)).single()
      _ = try Comments.insert(
        on: .post(mine.publicID("public_id")), for: .unrestricted, author: "bob", text: "Nice", session)
      try People.save(
        ProfileChange(Profile(userName: "forgotten-name", email: "a@b")), of: user, for: .unrestricted, session)
      for (first, second) in [(user, "bob"), ("bob", user), (user, "eve"), ("carl", user)] {
        _ = try Relations.relate(first, .friend, to: second, for: .unrestricted, session)
      }
      for kind in RelationKind.all.filter({ $0.target == .post }) {
        _ = try Relations.relate(user, kind, to: "\(other)", for: .unrestricted, session)
        _ = try Relations.relate("bob", kind, to: "\(mine.publicID("public_id"))", for: .unrestricted, session)
      }
      for author in ["bob", user] {
        _ = try Places.describe(
          "lake of \(author == user ? "one" : "bob")", PlaceDescription(name: "Lake"), for: .user(author), session
        ) { _ in }
        _ = try Places.saveNote("Closed on Mondays", of: author, about: "lake of one", session) { _ in }
        _ = try Places.rate("lake of bob", halves: author == user ? 2 : 8, by: author, for: .unrestricted, session) {
          _ in
        }
        _ = try Comments.insert(on: .place("lake of bob"), for: .unrestricted, author: author, text: "Nice", session)
      }
      let kind = try #require(try Definitions.collections()["itinerary"])
      let content = CollectionContent(
        name: "Trip", fields: [:], items: [CollectionItem(subject: .place("lake of bob"), fields: [:])])
      for (author, member) in [("bob", user), (user, "bob")] {
        let trip = try Collections.create(kind, content, by: author, for: .unrestricted, session)
        _ = try Collections.share(
          trip, with: member, as: .editor, for: .user(author), link: nil, session)
        _ = try Comments.insert(on: .collection(trip), for: .unrestricted, author: user, text: "Nice", session)
        try Collections.recordView(of: trip, by: user, link: nil, session)
      }
      _ = try Relations.relate(user, .block, to: "mallory", for: .unrestricted, session)
      _ = try Tokens.insert(of: user, hash: token, minter: .operatorKey, grant: nil, lifetime: 60, session)
      _ = try Tickets.insert(EventTicket(user: user, token: nil, minter: .operatorKey), hash: token, session)
      for (tenant, body) in [("1/\(user)", "{}"), ("1", #"{"id":"x",\#(try JSON.text(["author": user]).dropFirst())"#)]
      {
        let key = IdempotencyKey(tenant: tenant, key: "k", fingerprint: token)
        _ = try Idempotency.once(key, session) {
          IdempotentResponse(status: 201, location: nil, body: Array(body.utf8))
        }
      }
      var selection = ReprocessSelection()
      selection.author = user
      try session.execute(
        """
        INSERT INTO reprocess_run (public_id, selection, state) VALUES ($1::uuid, $2::jsonb, 'completed')
        """, .text("\(PublicID.now())"), .text(String(decoding: selection.record, as: UTF8.self)))
      let (hisComment, herComment) = (try #require(comments["bob"]), try #require(comments[user]))
      let reports: [(String, RecordID)] = [
        (user, .post(other)), (user, .comment(hisComment)), ("bob", .user(user)), ("bob", .comment(herComment)),
        ("bob", .post(try mine.publicID("public_id"))),
      ]
      for (author, subject) in reports {
        let report = try Moderation.report(
          subject, for: .unrestricted, author: author, reason: "spam", text: nil, session)
        #expect(report?.isNew == true)
      }
      for (subject, decision) in [
        (RecordID.comment(herComment), ModerationDecision.hide), (.user(user), .suspend),
      ] {
        let opened = try #require(try Moderation.openCase(about: subject, session)).opened
        _ = try Moderation.decide(opened.id, decision, by: nil, note: nil, session)
      }
    }
  }

  /// Performs a deletion as workers do that are interrupted before each commit, and returns the number of batches.
  fileprivate func perform(_ id: PublicID) async throws -> Int {
    var batches = 0
    let deadline = Deadline("the last batch of a deletion")
    while true {
      try deadline.check()
      let claim = try await pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try JobQueue.claim(worker: worker, queue: JobKinds.taskQueue, limit: 1, session).first
      }
      let job = try #require(claim)
      #expect(job.publicID == id)
      await #expect(throws: CancellationError.self) {
        try await pool.transaction { [store] session in
          try store.perform(job, session)
          throw CancellationError()
        }
      }
      batches += 1
      try await store.prepare(job, pool)
      let step = try await pool.transaction { [store] session in
        let step = try store.perform(job, session)
        if step == .batch {
          try JobQueue.release(job, session)
        } else {
          try JobQueue.complete(job, .accepted, result: nil, session)
        }
        return step
      }
      if step == .last { return batches }
    }
  }

  /// The tables with a row that contains a text, as a text, as the bytes of one, or within JSON.
  func tables(mentioning text: String) async throws -> [String] {
    let hex = text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let json = String(try JSON.text([text]).dropFirst(2).dropLast(2))
    let jsonHex = json.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return try await pool.run { session in
      let tables = try session.execute(
        """
        SELECT relname::text AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1
        """
      ).map { try $0.get("name", as: String.self) }
      return try tables.filter { table in
        let patterns = [text, hex, json, jsonHex]
        let statement = Statement(
          name: "mentions.\(table)",
          text: """
            SELECT count(*) FROM \(table) AS row, unnest($1::text[]) AS pattern
            WHERE strpos(replace(replace(row::text, '""', '"'), '\\\\', '\\'), pattern) > 0
            """)
        return try session.execute(statement, .texts(patterns)).single().get(0, as: Int.self) > 0
      }
    }
  }
}
