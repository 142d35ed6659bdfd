import Crypto
import Definitions
import Model
import Postgres
import Queue
import Testing

@testable import Store

@Suite("Attribution of crashes to clips", .tags(.database))
struct AttributionTests {
  private static func crash(_ error: String = "alone") -> CrashFacts {
    CrashFacts(code: .decoderCrashed, error: error, stage: "run", signal: "SIGABRT", limits: #"{"memory":2}"#)
  }

  @Test("the quarantine of a moment enqueues one job, which has its clips, and runs isolated")
  func job() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.submit("evil", "clip")
      let claim = try await fixture.quarantineMoment()
      #expect(try await fixture.crash(claim) == CrashCount(crashes: 3, quarantines: false))
      #expect(try await fixture.count("job WHERE kind = 'attribution'") == 1)
      let attribution = try await fixture.claim()
      #expect(attribution.work.isAttribution && attribution.work.isSuspect && attribution.work.refusals.isEmpty)
      #expect(attribution.work.subject == .post(post) && attribution.work.definitionHash == claim.work.definitionHash)
      let (moment, original) = (try attribution.work.moment, try claim.work.moment)
      #expect(moment.front == original.front && moment.back == original.back)
      #expect(moment.definition == original.definition && moment.foreground == original.foreground)
      #expect(attribution.job.deadlineSeconds == 2 * moment.definition.deadlineSeconds)
    }
  }

  @Test("a clip to which the crashes are attributed is refused in every place, and the other one is not quarantined")
  func clip() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "clip")
      let claim = try await fixture.quarantineMoment()
      try await fixture.submit("evil", "earlier")
      let waiting = try await fixture.claimPost()
      #expect(waiting.work.refusals.isEmpty)
      #expect(try await fixture.attribute([.front: Self.crash()], claim) == [.front])

      let evil = SHA256.digest(of: Array("evil".utf8))
      let found = try await fixture.pool.run { [store = fixture.store] in try store.quarantined($0) }
      let media = try #require(found.first)
      #expect(found.count == 1 && media.hash == evil && media.kind == .clip && media.crashes == 3)
      #expect(media.inputs.map(\.role) == [.sourceFront] && media.inputs.map(\.hash) == [evil])
      #expect(media.crash.error == "alone" && media.crash.signal == "SIGABRT" && media.foreground == .front)
      #expect(media.definition == claim.work.definitionHash && media.firstAt < media.lastAt)
      // When the time of the sources of rejected media is over.
      let unkept = Store(blobs: fixture.blobs, keepRejected: .zero)
      _ = try await fixture.pool.transaction { session in try unkept.dropRejectedSources(session) }
      try await fixture.collect()
      #expect(try fixture.holds(evil) && !fixture.holds(claim.work.moment.back))

      for (front, back, input) in [("evil", "other", InputName.front), ("other", "evil", .back)] {
        let refusal = await #expect(throws: QuarantineRefusal.self) { try await fixture.submit(front, back) }
        #expect(refusal?.reasons.map(\.input) == [input])
      }
      let marker = await #expect(throws: QuarantineRefusal.self) { try await fixture.submitMarker("evil") }
      #expect(marker?.reasons.map(\.input) == [.clip])
      let again = try await fixture.pool.run { [store = fixture.store] in try store.work(for: waiting.job, $0) }
      #expect(again?.refusals.map(\.input) == [.front])
      try await fixture.submit("other", "clip")

      let isReleased = try await fixture.pool.transaction { [store = fixture.store] in try store.release(media, $0) }
      #expect(isReleased)
      try await fixture.submit("evil", "other")
      try await fixture.submit("evil", "clip")
    }
  }

  @Test("both clips can be the cause; without one, the moment stays quarantined")
  func bothOrNeither() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "worse")
      let claim = try await fixture.quarantineMoment()
      #expect(try await fixture.attribute([:], claim) == [])
      #expect(try await fixture.kinds() == ["moment"])
      let cameras = try await fixture.attribute([.front: Self.crash(), .back: Self.crash()], claim)
      #expect(Set(cameras) == [.front, .back])
      #expect(try await fixture.kinds() == ["clip", "clip"])
      try await fixture.collect()
      #expect(try await fixture.count("quarantined_input") == 2)
      for (front, back) in [("evil", "other"), ("other", "worse")] {
        await #expect(throws: QuarantineRefusal.self) { try await fixture.submit(front, back) }
      }
    }
  }

  @Test("an attribution that is repeated, or that ends after the release of the moment, changes nothing")
  func repeated() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "clip")
      let claim = try await fixture.quarantineMoment()
      let job = try await fixture.claim()
      #expect(try await fixture.attribute([.front: Self.crash()], claim) == [.front])
      #expect(try await fixture.attribute([.front: Self.crash(), .back: Self.crash()], claim) == [])
      #expect(try await fixture.kinds() == ["clip"])
      let work = try await fixture.pool.run { [store = fixture.store] in try store.work(for: job.job, $0) }
      #expect(work == nil)
      // The clips crash once more after the release: that is no quarantine.
      _ = try await fixture.crash(claim)
      #expect(try await fixture.attribute([.back: Self.crash()], claim) == [])
      #expect(try await fixture.kinds() == ["clip"])
    }
  }

  @Test("a clip that was quarantined by itself before keeps its facts, and its moment is released")
  func known() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "clip")
      let claim = try await fixture.claim()
      try await fixture.submitMarker("evil")
      let marker = try await fixture.claim()
      for _ in 0..<2 { _ = try await fixture.crash(marker, Self.crash("as a marker")) }
      for _ in 0..<2 { _ = try await fixture.crash(claim, Self.crash()) }
      #expect(try await fixture.attribute([.front: Self.crash()], claim) == [])
      let found = try await fixture.pool.run { [store = fixture.store] in try store.quarantined($0) }
      #expect(found.map(\.crash.error) == ["as a marker"] && found.map(\.crashes) == [2])
      #expect(found.first?.inputs.map(\.role) == [.sourceClip])
    }
  }
}

extension StoreFixture {
  fileprivate func crash(
    _ claim: Claim, _ crash: CrashFacts = CrashFacts(code: .decoderCrashed, error: "as a moment")
  ) async throws -> CrashCount {
    try await pool.transaction { [store] session in try store.countCrash(crash, of: claim.work, session) }
  }

  /// Claims the submitted moment, quarantines it, and rejects its post.
  fileprivate func quarantineMoment() async throws -> Claim {
    let claim = try await claim()
    #expect(try await crash(claim) == CrashCount(crashes: 1, quarantines: false))
    #expect(try await crash(claim) == CrashCount(crashes: 2, quarantines: true))
    let verdict = Verdict(reasons: [Reason(.decoderCrashed, input: nil, detail: "")], inputs: [:], decisions: [])
    try await pool.transaction { [store] session in
      try store.reject(claim.work, job: claim.job, verdict: verdict, session)
    }
    return claim
  }

  /// Claims the next job that is none for an attribution.
  fileprivate func claimPost() async throws -> Claim {
    let next = try await claim()
    return next.work.isAttribution ? try await claim() : next
  }

  fileprivate func attribute(_ crashes: [Camera: CrashFacts], _ claim: Claim) async throws -> [Camera] {
    try await pool.transaction { [store] session in try store.attribute(crashes, of: claim.work, session) }
  }

  fileprivate func kinds() async throws -> [String] {
    try await pool.run { [store] in try store.quarantined($0).map(\.kind.rawValue) }
  }

  fileprivate func submitMarker(_ clip: String) async throws {
    let source = NewAsset(role: .sourceClip, type: "video/mp4", content: try seal(clip))
    let definition = try Definitions.markerVideo()
    _ = try await store.transaction(publishing: [source], pool) { [store] session in
      try store.submitPost(
        PostDraft(kind: .marker, author: "ada"), sources: [source], definition: .clips(definition), request: nil,
        session)
    }
  }
}
