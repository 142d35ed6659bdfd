import Crypto
import Definitions
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

@Suite("Quarantine", .tags(.database))
struct QuarantineTests {
  private static func crash(photo: Int? = nil) -> CrashFacts {
    CrashFacts(
      code: .decoderCrashed, error: "killed by a signal", photo: photo, stage: "run", signal: "SIGSEGV",
      limits: #"{"memory":1}"#)
  }

  @Test("the second crash quarantines the inputs with its facts, and their blobs stay until the release")
  func blobs() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "clip")
      let claim = try await fixture.claim()
      let moment = try claim.work.moment
      #expect(try await fixture.crash(claim, Self.crash()) == 1)
      #expect(try await fixture.quarantined().isEmpty)
      #expect(try await fixture.crash(claim, Self.crash()) == 2)
      try await fixture.reject(claim)
      try await fixture.collect()
      #expect(try fixture.holds(moment.front) && fixture.holds(moment.back))

      let media = try #require(try await fixture.quarantined().first)
      #expect(media.kind == .moment && media.crashes == 2 && media.foreground == .front)
      #expect(media.inputs.map(\.role) == [.sourceFront, .sourceBack])
      #expect(media.inputs.map(\.hash) == [moment.front, moment.back] && media.inputs.map(\.bytes) == [4, 4])
      #expect(media.crash.code == .decoderCrashed && media.crash.stage == "run" && media.crash.signal == "SIGSEGV")
      #expect(media.definition == claim.work.definitionHash && media.definitionName == "take5-post")
      #expect(media.firstAt < media.lastAt && media.lastAt <= media.quarantinedAt)
      let stored = try await fixture.pool.run { try Quarantine.definition(of: media, $0) }
      #expect(try JSON.decode(Definition.self, from: stored) == moment.definition)
      #expect(try await fixture.quarantined(String(media.hash.hex.prefix(9))).count == 1)
      #expect(try await fixture.quarantined("0" + media.hash.hex.prefix(8)).isEmpty)

      #expect(try await fixture.release(media))
      #expect(try await !fixture.release(media))
      try await fixture.collect()
      #expect(try await fixture.quarantined().isEmpty)
      #expect(try !fixture.holds(moment.front) && !fixture.holds(moment.back))
      #expect(try await fixture.count("blob") == 0)
    }
  }

  @Test("a release leaves blobs that a post refers to")
  func sharedBlob() async throws {
    try await StoreFixture.with { fixture in
      let other = try await fixture.submit("evil", "other")
      _ = try await fixture.claim()
      try await fixture.submit("evil", "clip")
      let claim = try await fixture.claim()
      for _ in 0..<2 { _ = try await fixture.crash(claim, Self.crash()) }
      try await fixture.reject(claim)
      #expect(try await fixture.release(try #require(try await fixture.quarantined().first)))
      try await fixture.collect()
      #expect(try fixture.holds(claim.work.moment.front) && !fixture.holds(claim.work.moment.back))
      #expect(try await fixture.post(other).status == .processing)
    }
  }

  @Test("the same pair of clips is refused until its release, nothing of it is stored, and each clip is accepted")
  func pair() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "clip")
      let claim = try await fixture.claim()
      for _ in 0..<2 { _ = try await fixture.crash(claim, Self.crash()) }
      try await fixture.reject(claim)
      let counts = try await fixture.counts()
      let refusal = await #expect(throws: QuarantineRefusal.self) { try await fixture.submit("evil", "clip") }
      #expect(refusal?.reasons.map(\.code) == [.quarantined] && refusal?.reasons.first?.input == nil)
      #expect(try await fixture.counts() == counts)
      try await fixture.submit("clip", "evil")
      try await fixture.submit("evil", "other")
      #expect(try await fixture.release(try #require(try await fixture.quarantined().first)))
      try await fixture.submit("evil", "clip")
      try await fixture.checkFiles()
    }
  }

  @Test("a clip that was quarantined by itself is refused as a part of a moment, and the reason names it")
  func clip() async throws {
    try await StoreFixture.with { fixture in
      let source = NewAsset(role: .sourceClip, type: "video/mp4", content: try fixture.seal("evil"))
      let definition = try Definitions.markerVideo()
      let store = fixture.store
      _ = try await store.transaction(publishing: [source], fixture.pool) { session in
        try store.submitPost(
          PostDraft(kind: .marker, author: "ada"), sources: [source], definition: .clips(definition), request: nil,
          session)
      }
      let claim = try await fixture.claim()
      for _ in 0..<2 { _ = try await fixture.crash(claim, Self.crash()) }
      #expect(try await fixture.quarantined().map(\.kind) == [.clip])
      let refusal = await #expect(throws: QuarantineRefusal.self) { try await fixture.submit("good", "evil") }
      #expect(refusal?.reasons.map(\.input) == [.back])
    }
  }

  @Test("of several photos the one that a media process crashed on is quarantined, in posts and as an image")
  func photos() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit(photos: ["good", "evil"])
      let claim = try await fixture.claim()
      for _ in 0..<2 { _ = try await fixture.crash(claim, Self.crash(photo: 1)) }
      #expect(try await fixture.quarantined().map(\.hash) == [SHA256.digest(of: Array("evil".utf8))])
      try await fixture.reject(claim)
      try await fixture.collect()
      #expect(try await fixture.count("blob") == 1)
      for (photos, index) in [(["evil"], 0), (["other", "good", "evil"], 2)] {
        let refusal = await #expect(throws: QuarantineRefusal.self) { try await fixture.submit(photos: photos) }
        #expect(refusal?.reasons.map(\.photo) == [index] && refusal?.reasons.first?.input == .photo)
      }
      try await fixture.submit(photos: ["good"])
      let image = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("evil"))
      let definition = try #require(try Definitions.photo("profile-image"))
      await #expect(throws: QuarantineRefusal.self) {
        let store = fixture.store
        _ = try await store.transaction(publishing: [image], fixture.pool) { session in
          try Images.submit(
            ImageDraft(kind: .profile, owner: "ada"), for: .unrestricted, source: image, definition: definition,
            request: nil, store, session)
        }
      }
    }
  }

  @Test("work whose inputs were quarantined after the submission has the reasons, and a publication does not release")
  func meanwhile() async throws {
    try await StoreFixture.with { fixture in
      for _ in 0..<3 { try await fixture.submit("evil", "clip") }
      let (first, running) = (try await fixture.claim(), try await fixture.claim())
      #expect(running.work.refusals.isEmpty && !running.work.isSuspect)
      for _ in 0..<2 { _ = try await fixture.crash(first, Self.crash()) }
      let later = try await fixture.claim()
      #expect(later.work.refusals.map(\.code) == [.quarantined])
      try await fixture.publish(running)
      #expect(try await fixture.quarantined().count == 1)
    }
  }

  @Test("an interruption makes later attempts run isolated, and counts nothing")
  func interruption() async throws {
    try await StoreFixture.with { fixture in
      for _ in 0..<2 { try await fixture.submit("slow", "clip") }
      let claim = try await fixture.claim()
      #expect(!claim.work.isSuspect)
      for _ in 0..<3 {
        try await fixture.pool.run { try Quarantine.markSuspect(claim.work, error: "", $0) }
      }
      #expect(try await fixture.claim().work.isSuspect)
      #expect(try await fixture.crash(claim, Self.crash()) == 1)
      #expect(try await fixture.quarantined().isEmpty)
    }
  }
}

extension StoreFixture {
  fileprivate func crash(_ claim: Claim, _ crash: CrashFacts) async throws -> Int {
    try await pool.transaction { session in try Quarantine.countCrash(crash, of: claim.work, session).crashes }
  }

  fileprivate func reject(_ claim: Claim) async throws {
    let verdict = Verdict(
      reasons: [Reason(.decoderCrashed, input: nil, detail: "twice")], inputs: [:], decisions: [])
    try await pool.transaction { [store = keepingNone] session in
      try store.reject(claim.work, job: claim.job, verdict: verdict, session)
    }
  }

  fileprivate func quarantined(_ prefix: String = "") async throws -> [QuarantinedMedia] {
    try await pool.run { session in try Quarantine.list(prefix: prefix, session) }
  }

  fileprivate func release(_ media: QuarantinedMedia) async throws -> Bool {
    try await pool.transaction { session in try Quarantine.release(media, session) }
  }

  fileprivate func submit(photos: [String]) async throws {
    let sources = try photos.enumerated().map { index, text in
      NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try seal(text), place: index)
    }
    let definition = try #require(try Definitions.photo("photo-post"))
    _ = try await store.transaction(publishing: sources, pool) { [store] session in
      try store.submitPost(
        PostDraft(kind: .photo, author: "ada"), sources: sources, definition: .photos(definition), request: nil,
        session)
    }
  }

  /// The number of rows in the tables that a submission writes.
  fileprivate func counts() async throws -> [Int] {
    var counts: [Int] = []
    for table in ["post", "blob", "asset", "asset_set", "job", "definition"] { counts.append(try await count(table)) }
    return counts
  }
}
