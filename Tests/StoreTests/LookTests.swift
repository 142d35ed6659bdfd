import Blobs
import Crypto
import Definitions
import Model
import Postgres
import Queue
import Rooms
import StoreTesting
import Testing

@testable import Store

@Suite("First looks of posts", .tags(.database), .timeLimit(.minutes(60)))
struct LookTests {
  static let refused = Verdict(
    reasons: [Reason(.corruptVideo, input: .front, detail: "broken")], inputs: [:], decisions: [])

  @Test(
    "a look is shown while the post is processed, gives way to the outputs, and stays readable for the grace period")
  func published() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.look = .viewers }
      try await fixture.show(fixture.claim(from: LookJob.queue))
      let seen = try await fixture.post(id)
      #expect(seen.status == .processing && Set(seen.assets.keys) == [.clipFront, .image])
      #expect(try await fixture.count("post WHERE look = 'viewers'") == 1)

      try await fixture.publish(fixture.claim(), "x")
      let ready = try await fixture.post(id)
      #expect(
        ready.status == .ready && Set(ready.assets.keys) == [.composed, .image] && ready.updatedAt > seen.updatedAt)
      #expect(ready.assets[.image]?.sha256 == seen.assets[.image]?.sha256)
      #expect(try await fixture.count("post WHERE look IS NULL") == 1)
      let retired = """
        asset_set JOIN post ON asset_set.replaced_by = post.asset_set_id
        WHERE retired_at > clock_timestamp() - interval '1 minute' AND NOT is_kept
        """
      #expect(try await fixture.count(retired) == 1)
      for asset in seen.assets.values {
        for viewer in [Viewer.user("ada"), .user("bob"), .stranger] {
          #expect(try await fixture.sees(asset, viewer))
        }
      }
      #expect(try await fixture.events() == ["post_previewed", "post_ready"])

      let dropped = try await fixture.pool.transaction { session in
        [
          try Assets.dropRetired(olderThan: .seconds(3600), session), try Assets.dropRetired(olderThan: .zero, session),
        ]
      }
      #expect(dropped == [0, 1])
      try await fixture.collect()
      for asset in seen.assets.values { #expect(try await !fixture.sees(asset, .unrestricted)) }
      #expect(try await fixture.blobs("clip", "image x") == [false, true])
      try await fixture.checkFiles()
    }
  }

  /// What becomes of a post whose look is shown, without outputs.
  enum End: CaseIterable {
    case rejected, failed, cancelled
  }

  @Test("a post that gets no outputs loses its look at once, with what it alone had", arguments: End.allCases)
  func withoutOutputs(end: End) async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.look = .viewers }
      try await fixture.show(fixture.claim(from: LookJob.queue))
      let seen = try await fixture.post(id)
      let claim = try await fixture.claim()
      let job = claim.job
      try await fixture.pool.transaction { [store = fixture.store] session in
        switch end {
        case .rejected: try store.reject(claim.work, job: job, verdict: Self.refused, session)
        case .failed: try JobControl.fail(jobs: [job.publicID], session)
        case .cancelled:
          try JobQueue.complete(job, .cancelled, result: nil, session)
          try JobControl.fail(job: job.publicID, session)
        }
      }
      let post = try await fixture.post(id)
      #expect(post.status == (end == .rejected ? .rejected : .failed) && post.assets.isEmpty)
      #expect(post.reasons == (end == .rejected ? Self.refused.reasons : []) && post.updatedAt > seen.updatedAt)
      for asset in seen.assets.values { #expect(try await !fixture.sees(asset, .unrestricted)) }
      #expect(try await fixture.count("post WHERE look IS NULL AND asset_set_id IS NULL") == 1)
      // The sources alone.
      #expect(try await fixture.count("asset_set") == 1)
      try await fixture.collect()
      #expect(try await fixture.blobs("clip", "image x") == [false, false])
      #expect(try await fixture.count("blob") == 2)
      #expect(try await fixture.count("blob_release") == 0)
      try await fixture.checkFiles()
      #expect(try await fixture.events() == ["post_previewed", end == .rejected ? "post_rejected" : "post_failed"])
    }
  }

  @Test("a post that is retried, or judged again, gets its outputs although it had a look")
  func again() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      try await fixture.show(fixture.claim(from: LookJob.queue))
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { [store = fixture.store] session in
        try store.reject(claim.work, job: claim.job, verdict: Self.refused, session)
      }
      var selection = ReprocessSelection()
      selection.statuses = [.rejected]
      let request = ReprocessRequest(
        selection, definitions: [.take5: [try StoredDefinition(try Definitions.take5Post())]])
      try await fixture.pool.transaction { session in
        _ = try #require(try Reprocessing.create(request, session))
        try Reprocessing.schedule(session)
      }
      // No look is made of what is judged again.
      #expect(try await fixture.count("job WHERE kind = 'look'") == 0)
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), recipe: 2)
      let post = try await fixture.post(id)
      #expect(post.status == .ready && post.reasons.isEmpty && post.assets.count == 2)
      #expect(try await fixture.events() == ["post_previewed", "post_rejected", "post_ready"])
    }
  }

  @Test("a look that comes after the outputs, or a second time, changes nothing and leaves nothing")
  func late() async throws {
    try await StoreFixture.with { fixture in
      let first = try await fixture.submit("a", "b")
      let late = try await fixture.claim(from: LookJob.queue)
      try await fixture.publish(fixture.claim(), "x")
      let ready = try await fixture.post(first)
      try await fixture.show(late)
      #expect(try await fixture.post(first) == ready)
      #expect(try await fixture.events() == ["post_ready"])
      try await fixture.collect()
      #expect(try await fixture.count("asset_set") == 2)
      #expect(try await fixture.blobs("clip", "image x") == [false, true])

      let second = try await fixture.submit("c", "d")
      let (store, definition) = (fixture.store, try StoredDefinition(try Definitions.take5Post()))
      try await fixture.show(fixture.claim(from: LookJob.queue), "y")
      try await fixture.pool.transaction { session in
        try store.enqueue(LookJob(post: second), as: .now(), by: "ada", definition, request: nil, session)
      }
      #expect(try await fixture.events() == ["post_ready", "post_previewed"])
      #expect(try await fixture.count("asset_set WHERE retired_at IS NULL") == 4)
      // The post has a look: nothing is to be done.
      #expect(try await fixture.unworkable(LookJob.queue))
      try await fixture.publish(fixture.claim(), "y")
      #expect(try await fixture.post(second).status == .ready)
    }
  }

  @Test("a look is not made for a definition that wants none, of suspect media, or of a post that is gone")
  func without() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("a", "b") { $0.look = .notMade }
      #expect(try await fixture.count("job WHERE kind = 'look'") == 0)
      _ = try await fixture.claim()
      try await fixture.submit("c", "d")
      let work = try await fixture.claim().work
      _ = try await fixture.pool.transaction { session in
        try Quarantine.countCrash(CrashFacts(code: .decoderCrashed, error: "SIGSEGV"), of: work, session)
      }
      #expect(try await fixture.unworkable(LookJob.queue))
      let deleted = try await fixture.submit("e", "f")
      let claim = try await fixture.claim(from: LookJob.queue)
      let isDeleted = try await fixture.pool.transaction { try Posts.delete(deleted, for: .unrestricted, $0) }
      #expect(isDeleted)
      try await fixture.show(claim)
      try await fixture.collect()
      #expect(try await fixture.count("asset_set") == 2)
      #expect(try await fixture.count("blob") == 4)
      #expect(try await fixture.events() == [])
    }
  }

  @Test("what an earlier version writes to a post ends its look too", arguments: ["ready", "rejected", "failed"])
  func earlierVersion(status: String) async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      try await fixture.show(fixture.claim(from: LookJob.queue))
      let seen = try #require(try await fixture.post(id).assets[.clipFront])
      try await fixture.pool.transaction { session in
        // The statements of version 161.
        switch status {
        case "ready":
          let set: Int64 = try session.execute(
            "INSERT INTO asset_set (public_id) VALUES (gen_random_uuid()) RETURNING id"
          ).single().get("id")
          let published = try session.execute(
            """
            UPDATE post SET status = 'ready', asset_set_id = $2::bigint, reasons = '[]'
            WHERE public_id = $1::uuid AND status = 'processing'
            RETURNING id, author, foreground, status
            """, .text("\(id)"), .integer(set))
          #expect(!published.isEmpty)
        case "rejected":
          try session.execute(
            """
            UPDATE post SET status = 'rejected', reasons = $2::jsonb WHERE public_id = $1::uuid AND status = 'processing'
            RETURNING public_id, author
            """, .text("\(id)"), .text("[]"))
        default:
          try session.execute(
            """
            UPDATE post SET status = 'failed' WHERE job = (SELECT job FROM post WHERE public_id = $1::uuid)
              AND status = 'processing' RETURNING public_id, author
            """, .text("\(id)"))
        }
      }
      let post = try await fixture.post(id)
      #expect(post.status.rawValue == status && post.assets.isEmpty)
      #expect(try await fixture.count("post WHERE look IS NULL") == 1)
      let isRetired = try await fixture.count("asset_set WHERE retired_at IS NOT NULL AND replaced_by IS NOT NULL") == 1
      #expect(isRetired == (status == "ready"))
      #expect(try await fixture.sees(seen, .user("ada")) == (status == "ready"))
      if status == "ready" { return }
      try await fixture.collect()
      #expect(try await fixture.blobs("clip") == [false])
    }
  }

  @Test("what else changes a post that is processed leaves its look")
  func changes() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.look = .viewers }
      try await fixture.show(fixture.claim(from: LookJob.queue))
      let seen = try #require(try await fixture.post(id).assets[.image])
      let changed = try await fixture.pool.transaction { session in
        try Posts.change(id, for: .user("ada"), PostChange(visibility: .friends, foreground: .back), session)
      }
      #expect(changed == .changed)
      // Nothing is composed again: it is not composed yet.
      #expect(try await fixture.count("reprocess_item") == 0)
      let now = try #require(try await fixture.post(id).assets[.image])
      // Its URL is dead for those who do not see it any more.
      #expect(now.id != seen.id && now.sha256 == seen.sha256)
      #expect(try await !fixture.sees(seen, .unrestricted))
      #expect(try await !fixture.sees(now, .user("bob")))
      #expect(try await fixture.sees(now, .user("ada")))
    }
  }

  @Test("the look of a post that is held is its author's, and its outputs are held")
  func held() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.look = .viewers }
      try await fixture.pool.run { session in
        _ = try session.execute(
          "UPDATE post SET moderation = 'hold', is_moderated = true WHERE public_id = $1::uuid", .text("\(id)"))
      }
      try await fixture.show(fixture.claim(from: LookJob.queue))
      let seen = try #require(try await fixture.post(id).assets[.image])
      #expect(try await fixture.post(id).status == .processing)
      for isReady in [false, true] {
        if isReady { try await fixture.publish(fixture.claim(), "x") }
        #expect(try await fixture.sees(seen, .user("ada")))
        for viewer in [Viewer.user("bob"), .stranger] { #expect(try await !fixture.sees(seen, viewer)) }
      }
      #expect(try await fixture.post(id).status == .held)
      #expect(try await fixture.count("post WHERE look IS NULL") == 1)
    }
  }

  @Test(
    "a look that meets the end of its post is shown before it or not at all", arguments: [true, false], [true, false])
  func meeting(isPublished: Bool, isFirst: Bool) async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let (look, claim) = (try await fixture.claim(from: LookJob.queue), try await fixture.claim())
      let (shown, outputs) = (try fixture.looks("x"), try fixture.outputs("x"))
      try await fixture.store.publish(contentOf: shown + outputs, fixture.pool)
      let store = fixture.store
      let show = { @Sendable (session: Session) throws -> Void in
        try store.publish(
          shown, of: look.work, recipe: SHA256.digest(of: [9]), job: look.job, verdict: StoreFixture.accepted,
          seconds: 1, session)
      }
      let end = { @Sendable (session: Session) throws -> Void in
        guard isPublished else {
          return try store.reject(claim.work, job: claim.job, verdict: Self.refused, session)
        }
        try store.publish(
          outputs, of: claim.work, recipe: SHA256.digest(of: [1]), job: claim.job, verdict: StoreFixture.accepted,
          seconds: 1, session)
      }
      let conflicts =
        isFirst
        ? try await fixture.meet(show, holdingAfter: "UPDATE", on: "post", end)
        : try await fixture.meet(end, holdingAfter: "UPDATE", on: "post", show)
      #expect(conflicts == 0)
      let post = try await fixture.post(id)
      #expect(post.status == (isPublished ? .ready : .rejected))
      #expect(Set(post.assets.keys) == (isPublished ? [.composed, .image] : []))
      #expect(try await fixture.count("post WHERE look IS NULL") == 1)
      let sets = isPublished ? (isFirst ? 3 : 2) : 1
      #expect(try await fixture.count("asset_set") == sets)
      #expect(
        try await fixture.events()
          == (isFirst ? ["post_previewed"] : []) + [isPublished ? "post_ready" : "post_rejected"])
      try await fixture.collect()
      try await fixture.checkFiles()
    }
  }
}

extension StoreFixture {
  /// What a look has: a clip of its own, and the image that the outputs have too.
  fileprivate func looks(_ text: String) throws -> [NewAsset] {
    [
      NewAsset(role: .clipFront, type: "video/mp4", content: try seal("clip"), width: 1080, height: 1920, duration: 5),
      NewAsset(role: .image, type: "image/jpeg", content: try seal("image \(text)"), width: 404, height: 720),
    ]
  }

  /// Shows the look of a claim.
  fileprivate func show(_ claim: Claim, _ text: String = "x") async throws {
    let outputs = try looks(text)
    _ = try await store.transaction(publishing: outputs, pool) { [store] session in
      try store.publish(
        outputs, of: claim.work, recipe: SHA256.digest(of: [9]), job: claim.job, verdict: Self.accepted, seconds: 1,
        session)
    }
  }

  /// Whether the next job of a queue is one without work.
  fileprivate func unworkable(_ queue: String) async throws -> Bool {
    try await pool.run { [store] session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: queue, limit: 1, session).first)
      return try store.work(for: job, session) == nil
    }
  }

  /// Which of some contents are stored.
  fileprivate func blobs(_ texts: String...) async throws -> [Bool] {
    try await pool.run { session in
      try texts.map { text in
        let hash = SHA256.digest(of: Array(text.utf8))
        return try !session.execute("SELECT FROM blob WHERE hash = $1", .bytes(hash.bytes)).isEmpty
      }
    }
  }

  fileprivate func sees(_ asset: Asset, _ viewer: Viewer) async throws -> Bool {
    try await pool.run { try Assets.find(asset.id, for: viewer, $0) != nil }
  }

  /// The kinds of the events of Ada.
  fileprivate func events() async throws -> [String] {
    try await pool.run { try Events.list(of: "ada", after: 0, limit: 10, $0).map(\.kind) }
  }
}
