import Blobs
import Crypto
import Definitions
import FoundationEssentials
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

  @Test("of a large run five hundred items are jobs at a time, and without a run nothing is scheduled")
  func window() async throws {
    try await StoreFixture.with { fixture in
      #expect(try await fixture.pool.transaction { try Reprocessing.schedule($0) } == nil)
      _ = try await fixture.ready("first")
      _ = try await fixture.startRun()
      try await fixture.pool.run { session in
        _ = try session.execute(
          """
          INSERT INTO reprocess_item (run_id, subject_kind, subject, definition)
          SELECT run_id, subject_kind, gen_random_uuid(), definition FROM reprocess_item, generate_series(1, 700)
          """)
      }
      #expect(try await fixture.pool.transaction { try Reprocessing.schedule($0) } == 500)
      #expect(try await fixture.pool.transaction { try Reprocessing.schedule($0) } == 0)
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

  @Test(
    "a run whose rate an earlier version has stored, whatever it is, does not stop the others",
    arguments: ["1.7e308", "'infinity'", "'NaN'", "1e-300"])
  func rates(_ rate: String) async throws {
    try await StoreFixture.with { fixture in
      for number in 0..<3 { _ = try await fixture.ready("\(number)") }
      _ = try await fixture.startRun { $0.rate = 1 }
      try await fixture.pool.run { session in
        _ = try session.execute("UPDATE reprocess_run SET rate = \(rate), fed_at = fed_at - interval '1 minute'")
      }
      let run = try await fixture.startRun()
      for _ in 0..<2 { try await fixture.schedule() }
      #expect(try await fixture.counts(run).started == 3)
    }
  }

  @Test("a run completes when each of its items has an outcome, and not before")
  func completing() async throws {
    try await StoreFixture.with { fixture in
      for number in 0..<3 { _ = try await fixture.ready("\(number)") }
      let run = try await fixture.startRun()
      #expect(try await fixture.schedule() == 3)
      #expect(try await fixture.schedule() == 0)
      for _ in 0..<3 {
        #expect(try await fixture.state(run) == .running)
        try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "again", recipe: 2)
      }
      #expect(try await fixture.schedule() == 0)
      #expect(try await fixture.state(run) == .completed)
    }
  }

  @Test("a rejection fails the item with its reason, and the post does not change")
  func rejecting() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.ready("first")
      let before = try await fixture.post(post)
      let run = try await fixture.startRun()
      try await fixture.schedule()
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      let verdict = Verdict(
        reasons: [Reason(.corruptVideo, input: .front, detail: "it is damaged")], inputs: [:], decisions: [])
      try await fixture.pool.transaction { [store = fixture.store] session in
        try store.reject(claim.work, job: claim.job, verdict: verdict, session)
      }
      let after = try await fixture.post(post)
      #expect(after.status == .ready)
      #expect(after.assets == before.assets)
      let failures = try await fixture.failures(run)
      #expect(failures.map(\.id) == [post])
      #expect(failures.first?.error.contains("it is damaged") == true)
    }
  }

  @Test("a dead job fails its item, and a retry of the job resumes the run")
  func dying() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.ready("first")
      let run = try await fixture.startRun()
      try await fixture.schedule()
      for _ in 0..<FaultPolicy().maxBlamed {
        try await fixture.execute("UPDATE job SET state = 'a', run_at = clock_timestamp() WHERE state = 's'")
        _ = try await fixture.claim(from: ReprocessJob.queue)
        // A job that exceeds its deadline is blamed.
        try await fixture.execute("UPDATE job SET deadline_at = clock_timestamp() WHERE state = 'x'")
        _ = try await fixture.pool.transaction { session in
          try JobControl.fail(JobQueue.reap(session), session)
        }
      }
      #expect(try await fixture.post(post).status == .ready)
      #expect(try await fixture.counts(run).failed == 1)
      try await fixture.schedule()
      #expect(try await fixture.state(run) == .completed)
      let dead = try await fixture.pool.run { try JobQueue.list(JobFilter(states: [.dead], limit: 1), $0).first }
      let job = try #require(dead).publicID
      let retried = try await fixture.pool.transaction { try JobControl.retry(job: job, $0) }
      #expect(retried)
      #expect(try await fixture.state(run) == .running)
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "second", recipe: 2)
      #expect(try await fixture.counts(run).done == 1)
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

  @Test("a marker is made again by the definition of its media, those of a clip or of a photo")
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

  @Test("the offset between the clips is that of the new outputs; one that is not known any more goes")
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

  @Test("a paused run starts no items, and the cancellation of a run cancels the items that have not started")
  func pausing() async throws {
    try await StoreFixture.with { fixture in
      for number in 0..<4 { _ = try await fixture.ready("\(number)") }
      let run = try await fixture.startRun { $0.rate = 1.0 / 3600 }
      // The rate of one item per hour permits one item after 1.5 hours.
      try await fixture.execute("UPDATE reprocess_run SET fed_at = fed_at - interval '1.5 hours'")
      #expect(try await fixture.schedule() == 1)
      #expect(try await fixture.schedule() == 0)
      #expect(try await fixture.change(run, to: .paused))
      try await fixture.execute("UPDATE reprocess_run SET fed_at = fed_at - interval '9 hours'")
      #expect(try await fixture.schedule() == 0)
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      #expect(claim.work.reprocessing?.state == .paused)
      #expect(try await fixture.change(run, to: .cancelled))
      let counts = try await fixture.counts(run)
      #expect(counts.cancelled == 3)
      #expect(counts.started == 1)
      #expect(try await !fixture.change(run, to: .running))
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

  @Test("a selection applies its filters")
  func selecting() async throws {
    try await StoreFixture.with { fixture in
      let first = try await fixture.ready("first")
      let second = try await fixture.ready("second", author: "grace")
      // A post without sources, and one that is processing: neither is selected.
      _ = try await fixture.ready("third", adjusting: { $0.keepSources = false })
      _ = try await fixture.submit("fourth front", "fourth back")
      func subjects(_ change: (inout ReprocessSelection) -> Void) async throws -> Int {
        var selection = ReprocessSelection()
        change(&selection)
        return try await fixture.summarize(selection).reduce(0) { $0 + $1.subjects }
      }
      #expect(try await subjects { _ in } == 2)
      #expect(try await fixture.withoutSources() == 1)
      #expect(try await subjects { $0.kinds = [.photo] } == 0)
      #expect(try await subjects { $0.kinds = [.take5] } == 2)
      #expect(try await subjects { $0.author = "grace" } == 1)
      #expect(try await subjects { $0.ids = [first, .now()] } == 1)
      #expect(try await subjects { $0.ids = [] } == 0)
      #expect(try await subjects { $0.limit = 1 } == 1)
      #expect(try await subjects { $0.definition = "take5-post" } == 2)
      #expect(try await subjects { $0.definition = "other" } == 0)
      #expect(try await subjects { $0.versionBelow = 1 } == 0)
      #expect(try await subjects { $0.versionBelow = 1000 } == 2)
      #expect(try await subjects { $0.missing = .composed } == 0)
      #expect(try await subjects { $0.missing = .poster } == 2)
      #expect(try await subjects { $0.createdAfter = Date() + 60 } == 0)
      #expect(try await subjects { $0.createdBefore = Date() + 60 } == 2)
      #expect(try await subjects { $0.statuses = [.failed] } == 0)
      #expect(try await subjects { $0.error = "disk" } == 0)
      let run = try await fixture.startRun { $0.selection.ids = [second] }
      try await fixture.schedule()
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      try await fixture.pool.run { session in
        try Reprocessing.end(itemOf: claim.job.publicID, .failed("The Disk is full"), session)
      }
      #expect(try await fixture.counts(run).failed == 1)
      #expect(try await subjects { $0.error = "disk" } == 1)
    }
  }

  @Test("a run makes a post ready whose job was cancelled")
  func reviving() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.submit()
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { session in
        try JobQueue.complete(claim.job, .cancelled, result: nil, session)
        try JobControl.fail(job: claim.job.publicID, session)
      }
      #expect(try await fixture.post(post).status == .failed)
      let run = try await fixture.startRun { $0.selection.statuses = [.failed] }
      try await fixture.schedule()
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "first")
      #expect(try await fixture.post(post).status == .ready)
      #expect(try await fixture.counts(run).done == 1)
    }
  }

  @Test("outputs of the same recipe are up to date, unless one of them is recorded as damaged")
  func damaged() async throws {
    try await StoreFixture.with { fixture in
      let (store, blobs) = (fixture.store, fixture.blobs)
      _ = try await fixture.ready("first")
      let recipe = SHA256.digest(of: [1])
      _ = try await fixture.startRun()
      #expect(try await fixture.schedule() == 1)
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      #expect(try claim.work.hasOutputs(of: recipe, in: blobs))
      let work = try await fixture.pool.run { session in
        _ = try Damage.note(.corrupt, of: SHA256.digest(of: Array("composed first".utf8)), session)
        return try store.work(for: claim.job, session)
      }
      #expect(try work?.hasOutputs(of: recipe, in: blobs) == false)
    }
  }
}

extension StoreFixture {
  /// Submits a post and publishes its outputs.
  fileprivate func ready(
    _ text: String, author: String = "ada", adjusting: @Sendable (inout Definition) -> Void = { _ in }
  ) async throws -> PublicID {
    let post = try await submit("\(text) front", "\(text) back", draft: PostDraft(author: author), adjusting: adjusting)
    try await publish(claim(), text)
    return post
  }

  fileprivate func startRun(_ change: (inout ReprocessRequest) -> Void = { _ in }) async throws -> PublicID {
    var request = try request(ReprocessSelection())
    change(&request)
    let run = try await pool.transaction { [request] in try Reprocessing.create(request, $0) }
    return try #require(run)
  }

  private func request(_ selection: ReprocessSelection) throws -> ReprocessRequest {
    var definition = try Definitions.take5Post()
    definition.version += 1
    return ReprocessRequest(selection, definitions: [.take5: [try StoredDefinition(definition)]])
  }

  fileprivate func summarize(_ selection: ReprocessSelection) async throws -> [ReprocessGroup] {
    let request = try request(selection)
    return try await pool.run { try Reprocessing.summarize(request, $0) }
  }

  fileprivate func withoutSources() async throws -> Int {
    let request = try request(ReprocessSelection())
    return try await pool.run { try Reprocessing.countWithoutSources(request, $0) }
  }

  @discardableResult
  fileprivate func schedule() async throws -> Int {
    try await pool.transaction { try Reprocessing.schedule($0) ?? 0 }
  }

  fileprivate func execute(_ statement: Statement) async throws {
    try await pool.run { session in _ = try session.execute(statement) }
  }

  fileprivate func run(_ id: PublicID) async throws -> ReprocessRun {
    let run = try await pool.run { try Reprocessing.find(id, $0) }
    return try #require(run)
  }

  fileprivate func state(_ id: PublicID) async throws -> ReprocessRun.State { try await run(id).state }

  fileprivate func change(_ id: PublicID, to state: ReprocessRun.State) async throws -> Bool {
    let run = try await run(id)
    return try await pool.transaction { try Reprocessing.change(run, to: state, $0) }
  }

  fileprivate func counts(_ id: PublicID) async throws -> ReprocessCounts {
    let run = try await run(id)
    return try await pool.run { try Reprocessing.counts(of: run, $0) }
  }

  fileprivate func failures(_ id: PublicID) async throws -> [(id: PublicID, error: String)] {
    let run = try await run(id)
    return try await pool.run {
      try Reprocessing.failures(of: run, limit: 10, $0).map { ($0.subject.id, $0.error) }
    }
  }

  fileprivate func asset(_ id: PublicID) async throws -> StoredAsset? {
    try await pool.run { try Assets.find(id, for: .unrestricted, $0) }
  }

  fileprivate func dropRetired(after age: Duration) async throws -> Int {
    try await pool.transaction { try Assets.dropRetired(olderThan: age, $0) }
  }
}
