import Blobs
import Crypto
import Definitions
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

@Suite("Reprocessing", .tags(.database))
struct ReprocessingTests {
  @Test("new outputs replace the old ones, which stay readable for the grace period")
  func replacing() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.ready("first")
      let old = try #require(try await fixture.post(post).assets[.composed])
      let run = try await fixture.startRun()
      #expect(try await fixture.schedule() == 1)
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "second", recipe: 2)
      let new = try #require(try await fixture.post(post).assets[.composed])
      #expect(new.sha256 != old.sha256)
      #expect(try await fixture.counts(run).done == 1)

      // A client may still use the URL of the old asset.
      #expect(try await fixture.asset(old.id) != nil)
      #expect(try await fixture.dropRetired(after: .seconds(3600)) == 0)
      #expect(try await fixture.dropRetired(after: .zero) == 1)
      try await fixture.collect()
      #expect(try await fixture.asset(old.id) == nil)
      #expect(try !fixture.holds(#require(SHA256Digest(hex: old.sha256))))
      #expect(try fixture.holds(#require(SHA256Digest(hex: new.sha256))))
      try await fixture.checkFiles()
    }
  }

  @Test(
    "a run is dropped with its items 90 days after its end, and others stay, also one with an item that has not ended")
  func dropping() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      try await fixture.pool.run { session in
        // The priority says which is which.
        try session.executeScript(
          """
          INSERT INTO reprocess_run (public_id, priority, state, selection, ended_at)
          SELECT gen_random_uuid(), priority, state, '{}', clock_timestamp() - age::interval
          FROM (VALUES (1, 'completed', '91 days'), (2, 'cancelled', '91 days'), (3, 'cancelled', '91 days'),
            (4, 'completed', '89 days'), (5, 'running', NULL), (6, 'paused', NULL), (7, 'completed', '91 days')
          ) AS run (priority, state, age);
          INSERT INTO reprocess_item (run_id, subject_kind, subject, definition, outcome, ended_at)
          SELECT run.id, 'post', gen_random_uuid(), (SELECT hash FROM definition LIMIT 1), 'done', clock_timestamp()
          FROM reprocess_run AS run, generate_series(1, CASE WHEN run.priority = 1 THEN 1500 ELSE 2 END)
          WHERE run.priority < 7;
          UPDATE reprocess_item SET outcome = NULL, ended_at = NULL, job = gen_random_uuid()
          WHERE run_id = (SELECT id FROM reprocess_run WHERE priority = 3)
          """, name: "runs")
        for _ in 0..<3 { _ = try Reprocessing.dropOld(session) }
        #expect(try Reprocessing.dropOld(session) == 0)
        let left = try session.execute(
          """
          SELECT priority::int AS priority, (SELECT count(*) FROM reprocess_item WHERE run_id = run.id) AS items
          FROM reprocess_run AS run ORDER BY priority
          """
        ).map { row in [try row.get("priority", as: Int.self), try row.get("items", as: Int.self)] }
        #expect(left == [[3, 2], [4, 2], [5, 2], [6, 2]])
      }
    }
  }

  @Test("a moment whose foreground changes is composed again, also one that changes while it is composed")
  func exchanging() async throws {
    try await StoreFixture.with { fixture in
      let ready = try await fixture.ready("first")
      let early = try await fixture.submit("early")
      let claim = try await fixture.claim()
      for post in [ready, early] {
        let changed = try await fixture.pool.transaction { session in
          try Posts.change(post, for: .user("ada"), PostChange(foreground: .back), session)
        }
        #expect(changed == .changed)
      }
      #expect(try await fixture.schedule() == 1)
      try await fixture.publish(claim)
      #expect(try await fixture.schedule() == 1)
      for _ in 0..<2 {
        let again = try await fixture.claim(from: ReprocessJob.queue)
        guard case .moment(let moment) = again.work.content else { throw StoreError.noSubject(again.work.subject) }
        #expect(moment.foreground == .back)
        try await fixture.publish(again, "again", recipe: 2)
      }
    }
  }

  @Test("an attempt does not replace outputs that changed after its work was read")
  func racing() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.ready("first")
      _ = try await fixture.startRun()
      _ = try await fixture.startRun()
      try await fixture.schedule()
      let one = try await fixture.claim(from: ReprocessJob.queue)
      let other = try await fixture.claim(from: ReprocessJob.queue)
      try await fixture.publish(one, "one", recipe: 2)
      await #expect(throws: StoreError.outputsChanged(.post(post))) {
        try await fixture.publish(other, "other", recipe: 2)
      }
      // The transaction left nothing, and the job is still claimed.
      #expect(try await fixture.count("asset_set WHERE definition IS NOT NULL") == 2)
      #expect(try await fixture.count("job WHERE state = 'x'") == 1)
    }
  }

  @Test("a marker is made again by the definition of its media, a clip or a photo")
  func markers() async throws {
    try await StoreFixture.with { fixture in
      let (clips, photos) = (try Definitions.markerVideo(), try #require(try Definitions.photo("photo-post")))
      for (role, definition) in [(Role.sourceClip, MediaDefinition.clips(clips)), (.sourcePhoto, .photos(photos))] {
        let source = NewAsset(role: role, type: "image/jpeg", content: try fixture.seal(role.rawValue))
        let store = fixture.store
        _ = try await store.transaction(publishing: [source], fixture.pool) { session in
          try store.submitPost(
            PostDraft(kind: .marker, author: "ada"), sources: [source], definition: definition, request: nil, session)
        }
        try await fixture.publish(fixture.claim(), role.rawValue)
      }
      func names(_ definitions: [StoredDefinition]) async throws -> [String] {
        let request = ReprocessRequest(ReprocessSelection(), definitions: [.marker: definitions])
        let groups = try await fixture.pool.run { try Reprocessing.summarize(request, $0) }
        #expect(groups.allSatisfy { $0.subjects == 1 && $0.isSame && $0.madeName == $0.definition.name })
        return groups.map(\.definition.name)
      }
      let all = [try StoredDefinition(photos), try StoredDefinition(clips)]
      #expect(try await names(all) == ["marker-video", "photo-post"])
      #expect(try await names([all[0]]) == ["photo-post"])
      let run = try await fixture.startRun { $0.definitions = [.marker: all] }
      #expect(try await fixture.schedule() == 2)
      for _ in 0..<2 { try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "again", recipe: 2) }
      #expect(try await fixture.counts(run).done == 2)
    }
  }

  @Test("the new outputs set the offset between the clips; one that is not known any more goes")
  func offset() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.ready("first")
      #expect(try await fixture.post(id).offsetSeconds == 0.18)
      _ = try await fixture.startRun()
      try await fixture.schedule()
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      let outputs = try fixture.outputs("second")
      let unaligned = Verdict(reasons: [], inputs: [:], decisions: [])
      _ = try await fixture.store.transaction(publishing: outputs, fixture.pool) { [store = fixture.store] session in
        try store.publish(
          outputs, of: claim.work, recipe: SHA256.digest(of: [2]), job: claim.job, verdict: unaligned, seconds: 1,
          session)
      }
      #expect(try await fixture.post(id).offsetSeconds == nil)
    }
  }

  @Test("kept sets are deleted with their post")
  func keeping() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.ready("first")
      _ = try await fixture.startRun { $0.keepsOld = true }
      try await fixture.schedule()
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "second", recipe: 2)
      _ = try await fixture.startRun()
      try await fixture.schedule()
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "third", recipe: 3)
      // The second set is dropped; the first is kept although its successor is gone.
      #expect(try await fixture.dropRetired(after: .zero) == 1)
      #expect(try await fixture.count("asset_set WHERE definition IS NOT NULL") == 2)
      let deleted = try await fixture.pool.transaction {
        try Posts.delete(post, for: .unrestricted, $0)
      }
      #expect(deleted)
      #expect(try await fixture.count("asset_set") == 0)
      try await fixture.collect()
      #expect(try await fixture.count("blob") == 0)
    }
  }
}
