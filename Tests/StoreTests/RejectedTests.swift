import Blobs
import Crypto
import Definitions
import Model
import Postgres
import Queue
import StoreTesting
import Testing
import WaitTesting

@testable import Rooms
@testable import Store

@Suite("The sources of rejected media", .tags(.database), .timeLimit(.minutes(60)))
struct RejectedTests {
  private static let first = Reason(.corruptVideo, input: .front, detail: "a packet is missing")
  private static let later = Reason(.durationOutOfRange, input: .front, detail: "it lasts an hour")

  @Test("they are kept for the time of the store, and then they are removed, while the post keeps its reasons")
  func kept() async throws {
    try await StoreFixture.with { fixture in
      let (id, claim) = try await fixture.rejected(Self.first)
      try await fixture.collect()
      #expect(try fixture.holds(claim.work.moment.front) && fixture.holds(claim.work.moment.back))
      try await fixture.age("6 days 23 hours")
      #expect(try await fixture.dropRejected() == 0)
      try await fixture.age("1 hour")
      #expect(try await fixture.dropRejected() == 1)
      #expect(try await fixture.dropRejected() == 0)
      try await fixture.collect()
      #expect(try !fixture.holds(claim.work.moment.front) && !fixture.holds(claim.work.moment.back))
      for table in ["blob", "asset", "asset_set"] { #expect(try await fixture.count(table) == 0, "\(table)") }
      let post = try await fixture.post(id)
      #expect(post.status == .rejected && post.reasons == [Self.first])
    }
  }

  @Test("a later verdict makes the post ready, with its events, and its sources stay")
  func accepted() async throws {
    try await StoreFixture.with { fixture in
      let (id, claim) = try await fixture.rejected(Self.first)
      try await fixture.judge { $0.statuses = [.rejected] }
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), recipe: 2)
      let post = try await fixture.post(id)
      #expect(post.status == .ready && post.reasons.isEmpty && post.assets.count == 2)
      let events = try await fixture.pool.run {
        try Events.list(of: "ada", after: 0, limit: 10, $0).map(\.kind)
      }
      #expect(events == ["post_rejected", "post_ready"])
      try await fixture.age("30 days")
      #expect(try await fixture.dropRejected() == 0)
      try await fixture.collect()
      #expect(try fixture.holds(claim.work.moment.front))
    }
  }

  @Test("a later rejection replaces the reasons, fails the item, and does not prolong the time")
  func rejectedAgain() async throws {
    try await StoreFixture.with { fixture in
      let (id, _) = try await fixture.rejected(Self.first)
      try await fixture.age("6 days")
      try await fixture.judge { $0.statuses = [.rejected] }
      try await fixture.reject(fixture.claim(from: ReprocessJob.queue), Self.later)
      let post = try await fixture.post(id)
      #expect(post.status == .rejected && post.reasons == [Self.later])
      #expect(try await fixture.count("reprocess_item WHERE outcome = 'failed' AND error LIKE '%an hour%'") == 1)
      try await fixture.age("1 day")
      #expect(try await fixture.dropRejected() == 1)
    }
  }

  @Test("a run selects by a reason, and nothing whose sources are gone")
  func selection() async throws {
    try await StoreFixture.with { fixture in
      let (first, _) = try await fixture.rejected(Self.first, "1")
      let (second, _) = try await fixture.rejected(Self.later, "2")
      #expect(try await fixture.selected { _ in } == [])
      #expect(Set(try await fixture.selected { $0.statuses = [.rejected] }) == [first, second])
      let byReason = try await fixture.selected {
        $0.statuses = [.rejected]
        $0.reason = .durationOutOfRange
      }
      #expect(byReason == [second])
      try await fixture.age("8 days")
      #expect(try await fixture.dropRejected() == 2)
      #expect(try await fixture.selected { $0.statuses = [.rejected] } == [])
    }
  }

  @Test("quarantined media are not judged again, and the post keeps its reason; after their release they are")
  func quarantined() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let claim = try await fixture.claim()
      let crash = CrashFacts(
        code: .decoderCrashed, error: "killed by a signal", photo: nil, stage: "run", signal: "SIGSEGV", limits: "{}")
      for _ in 0..<2 {
        _ = try await fixture.pool.transaction {
          try Quarantine.countCrash(crash, of: claim.work, $0)
        }
      }
      let reason = Reason(.decoderCrashed, input: nil, detail: "it crashed")
      try await fixture.reject(claim, reason)
      try await fixture.judge { $0.statuses = [.rejected] }
      let refused = try await fixture.claim(from: ReprocessJob.queue)
      #expect(refused.work.refusals.map(\.code) == [.quarantined])
      try await fixture.reject(refused, try #require(refused.work.refusals.first))
      #expect(try await fixture.post(id).reasons == [reason])
      let released = try await fixture.pool.transaction { session in
        try Quarantine.list(prefix: "", session).map { try Quarantine.release($0, session) }.count
      }
      #expect(released == 1)
      try await fixture.judge { $0.statuses = [.rejected] }
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), recipe: 2)
      #expect(try await fixture.post(id).status == .ready)
    }
  }

  @Test("the deletion of the post, or of the user, ends the time", arguments: [false, true])
  func deletion(ofUser: Bool) async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      let (id, claim) = try await fixture.rejected(Self.first)
      if ofUser {
        let job = try await pool.transaction { try Forgetting.start("ada", request: nil, $0, check: { _ in }).job }
        let deadline = Deadline("the last batch of a deletion")
        while try await pool.transaction({ try Forgetting.forgetBatch(ofJob: job, in: .all, $0) }) {
          try deadline.check()
        }
      } else {
        _ = try await pool.transaction { try Posts.delete(id, for: .unrestricted, $0) { _ in } }
      }
      try await fixture.collect()
      #expect(try !fixture.holds(claim.work.moment.front))
      for table in ["post", "blob", "asset_set"] { #expect(try await fixture.count(table) == 0, "\(table)") }
    }
  }

  @Test("the sources of a rejected image are kept as well, and removed once it is accepted, as its definition says")
  func image() async throws {
    try await StoreFixture.with { fixture in
      let (store, pool) = (fixture.store, fixture.pool)
      let definition = try #require(try Definitions.photo("profile-image"))
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("photo"))
      let submitted = try await store.transaction(publishing: [source], pool) { session in
        try Images.submit(
          ImageDraft(kind: .profile, owner: "ada", author: "ada"), for: .unrestricted, source: source,
          definition: definition, request: nil, store, session)
      }
      let id = try #require(submitted)
      try await fixture.reject(fixture.claim(), Reason(.corruptImage, input: .photo, detail: "broken"))
      try await fixture.collect()
      #expect(try fixture.holds(source.content.hash))
      var selection = ReprocessSelection()
      selection.statuses = [.rejected]
      try await fixture.judge(selection, [.profile: [try StoredDefinition(definition)]])
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      #expect(claim.work.subject == .image(id))
      try await fixture.publish(claim, recipe: 2)
      try await fixture.collect()
      #expect(try await fixture.count("image WHERE status = 'ready' AND asset_set_id IS NOT NULL") == 1)
      #expect(try !fixture.holds(source.content.hash))
    }
  }
}

extension StoreFixture {
  /// Submits a post whose media are rejected.
  fileprivate func rejected(_ reason: Reason, _ text: String = "") async throws -> (post: PublicID, claim: Claim) {
    let id = try await submit("front \(text)", "back \(text)")
    let claim = try await claim()
    try await reject(claim, reason)
    return (id, claim)
  }

  fileprivate func reject(_ claim: Claim, _ reason: Reason) async throws {
    try await pool.transaction { [store] session in
      try store.reject(
        claim.work, job: claim.job, verdict: Verdict(reasons: [reason], inputs: [:], decisions: []), session)
    }
  }

  /// Lets time pass for the rejected media.
  fileprivate func age(_ interval: String) async throws {
    try await pool.run { session in
      try session.executeScript("UPDATE asset_set SET rejected_at = rejected_at - interval '\(interval)'", name: "age")
    }
  }

  fileprivate func dropRejected() async throws -> Int {
    try await pool.transaction { [store] in try store.dropRejectedSources($0) }
  }

  fileprivate func judge(_ change: (inout ReprocessSelection) -> Void) async throws {
    var selection = ReprocessSelection()
    change(&selection)
    try await judge(selection, [.take5: [try StoredDefinition(try Definitions.take5Post())]])
  }

  fileprivate func judge(
    _ selection: ReprocessSelection, _ definitions: [SubjectKind: [StoredDefinition]]
  ) async throws {
    let request = ReprocessRequest(selection, definitions: definitions)
    try await pool.transaction { session in
      _ = try #require(try Reprocessing.create(request, session))
      try Reprocessing.schedule(session)
    }
  }

  fileprivate func selected(_ change: (inout ReprocessSelection) -> Void) async throws -> [PublicID] {
    var selection = ReprocessSelection()
    change(&selection)
    let request = ReprocessRequest(
      selection, definitions: [.take5: [try StoredDefinition(try Definitions.take5Post())]])
    return try await pool.transaction { session in
      guard try Reprocessing.create(request, session) != nil else { return [] }
      let items = try session.execute("SELECT subject FROM reprocess_item ORDER BY subject").map {
        try $0.publicID("subject")
      }
      try session.execute("DELETE FROM reprocess_run")
      return items
    }
  }
}
