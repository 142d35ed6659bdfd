import BlobTesting
import Blobs
import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Rooms
import Store
import Testing

@testable import Worker

@Suite("Attempts at first looks", .tags(.database), .timeLimit(.minutes(60)))
struct LookTests {
  static let kinds = Ending.allCases.filter { !$0.isReprocessing }

  @Test("each ending of an attempt at a look leaves the post to its outputs, and blames no media", arguments: kinds)
  func endings(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      if ending == .crowded { try await fixture.pool.run { _ = try $0.execute("UPDATE job SET lost = 2") } }
      let held = try await fixture.claim(from: LookJob.queue)
      let source = try await fixture.source(of: held.job)
      let bytes = try fixture.blobs.open(source).contents()
      if ending == .damaged { try fixture.blobs.remove(source) }
      #expect(await Self.handle(held, ending.media(of: held), ending, fixture) == ending.healthOfLook)

      let job = try await fixture.job(held.job.publicID)
      #expect(job.state == ending.jobOfLook.state && job.attempt == ending.jobOfLook.attempt)
      #expect(fixture.outcomes == [ending.outcomeOfLook: 1])
      let seen = try await fixture.post(post)
      #expect(seen.status == .processing && seen.reasons.isEmpty)
      #expect(seen.photos.count == (ending == .accepted ? 1 : 0))
      #expect(try await fixture.count("media_crash") == 0)
      #expect(try await fixture.quarantined().isEmpty)

      if ending == .damaged { try await fixture.put(bytes) }
      if ending == .crowded { try await fixture.pool.run { _ = try $0.execute("UPDATE job SET lost = 0") } }
      let media = FakeMedia()
      #expect(try await fixture.attempt(media) == .healthy)
      let ready = try await fixture.post(post)
      #expect(ready.status == .ready && ready.photos.count == 1)
      #expect(ready.photos[0].count > (seen.photos.first?.count ?? 0))
      #expect(try await fixture.events() == (ending == .accepted ? ["post_previewed"] : []) + ["post_ready"])
      // The sources, the outputs, and the look that gave way to them.
      #expect(try await fixture.count("asset_set") == (ending == .accepted ? 3 : 2))

      // What is left of the look does nothing.
      guard [.interrupted, .unable, .crowded, .drained].contains(ending) else { return }
      try await fixture.pool.run { session in
        try session.execute("UPDATE job SET run_at = clock_timestamp() WHERE state = 's'")
        _ = try JobQueue.promote(session)
      }
      let again = try await fixture.claim(from: LookJob.queue)
      #expect(await fixture.handler(FakeMedia()).handle(again, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.job(again.job.publicID).state == .cancelled)
      #expect(try await fixture.post(post) == ready)
      #expect(try await fixture.count("asset_set") == 2)
    }
  }

  @Test("a look that has lost its lease changes nothing", arguments: kinds)
  func leaseLost(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      if ending == .crowded { try await fixture.pool.run { _ = try $0.execute("UPDATE job SET lost = 2") } }
      let held = try await fixture.claim(from: LookJob.queue)
      if ending == .damaged { try fixture.blobs.remove(try await fixture.source(of: held.job)) }
      try await fixture.reap()
      let before = try await fixture.rows()
      _ = await Self.handle(held, ending.media(of: held), ending, fixture)
      #expect(try await fixture.rows() == before)
    }
  }

  @Test("a look that is cancelled, or whose attempts are over, does not fail its post", arguments: [true, false])
  func ended(isCancelled: Bool) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim(from: LookJob.queue)
      let id = held.job.publicID
      if isCancelled {
        #expect(try await fixture.pool.transaction { try JobControl.cancel(job: id, $0) } == .requested)
        held.stop(.cancelled)
        _ = await fixture.handler(FakeMedia()).handle(held, isAlone: true, log: WorkerFixture.log)
      } else {
        try await fixture.pool.transaction { session in
          try session.execute("UPDATE job SET max_attempts = 1, deadline_at = clock_timestamp() WHERE state = 'x'")
          try JobControl.fail(try JobQueue.reap(session), session)
        }
      }
      #expect(try await fixture.job(id).state == (isCancelled ? .cancelled : .dead))
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.attempt(FakeMedia()) == .healthy)
      #expect(try await fixture.post(post).status == .ready)
    }
  }

  @Test("the look of a moment uses all cores, and its media process is asked for nothing that is composed")
  func moment() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submitMoment()
      let media = FakeMedia()
      let held = try await fixture.claim(from: LookJob.queue)
      #expect(await fixture.handler(media).handle(held, isAlone: false, log: WorkerFixture.log) == .healthy)
      #expect(media.requests.withLock { $0 } == ["probe", "run latency"])
      let seen = try await fixture.post(post)
      #expect(Set(seen.assets.keys) == [.clipFront, .clipBack, .image, .thumbnailFront, .thumbnailBack])
      #expect(try await fixture.attempt(FakeMedia()) == .healthy)
      let ready = try await fixture.post(post)
      #expect(ready.status == .ready && ready.assets.count == 9)
      for (role, asset) in seen.assets { #expect(ready.assets[role]?.sha256 == asset.sha256) }
    }
  }

  @Test(
    "a moment whose probe or run is refused for its look is refused by its composition alone", arguments: [true, false])
  func refused(isProbed: Bool) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submitMoment()
      func media() -> FakeMedia {
        FakeMedia(reason: Reason(.corruptVideo, input: .front, detail: "broken"), rejectsInProbe: isProbed)
      }
      let held = try await fixture.claim(from: LookJob.queue)
      #expect(await fixture.handler(media()).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.post(post).reasons.isEmpty)
      #expect(try await fixture.events() == [])
      #expect(try await fixture.attempt(media()) == .healthy)
      #expect(try await fixture.post(post).reasons.map(\.code) == [.corruptVideo])
      #expect(try await fixture.events() == ["post_rejected"])
    }
  }

  @Test("a look that comes after the outputs publishes nothing, also one that was being made when they came")
  func late() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim(from: LookJob.queue)
      let media = FakeMedia { () async throws(MediaFailure) in
        await #expect(throws: Never.self) { try await fixture.attempt(FakeMedia()) }
      }
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .healthy)
      let ready = try await fixture.post(post)
      #expect(ready.status == .ready && ready.photos.first?.count == 4)
      #expect(try await fixture.events() == ["post_ready"])
      #expect(try await fixture.count("asset_set") == 2)
      #expect(try await fixture.count("blob_release") == 0)
    }
  }

  private static func handle(
    _ held: HeldJob, _ media: FakeMedia, _ ending: Ending, _ fixture: WorkerFixture
  ) async -> ServiceHealth {
    let handler = fixture.handler(media)
    guard ending == .crowded else { return await handler.handle(held, isAlone: true, log: WorkerFixture.log) }
    // Another job runs for longer than this one waits.
    _ = await handler.isolation.enter(alone: false, within: .seconds(20))
    async let turning: Void = {
      try await fixture.clock.sleepers(for: .seconds(20))
      fixture.clock.advance(by: .seconds(20))
    }()
    let health = await handler.handle(held, isAlone: true, log: WorkerFixture.log)
    do { try await turning } catch { Issue.record(error) }
    return health
  }
}

extension Ending {
  /// What becomes of the job of a look.
  fileprivate var jobOfLook: (state: JobState, attempt: Int) {
    switch self {
    case .rejected, .broken, .damaged, .failed: (.cancelled, 1)
    default: job
    }
  }

  fileprivate var outcomeOfLook: String {
    switch self {
    case .rejected, .broken, .damaged, .failed: "cancelled"
    default: outcome
    }
  }

  fileprivate var healthOfLook: ServiceHealth {
    switch self {
    case .rejected: .unknown
    default: health
    }
  }
}

extension WorkerFixture {
  fileprivate func count(_ table: String) async throws -> Int {
    try await pool.run { try $0.execute(Statement(stringLiteral: "SELECT count(*) FROM \(table)")).single().get(0) }
  }

  /// The kinds of the events of Ada.
  fileprivate func events() async throws -> [String] {
    try await pool.run { try Events.list(of: "ada", after: 0, limit: 10, $0).map(\.kind) }
  }

  /// Stores bytes whose file was removed.
  fileprivate func put(_ bytes: [UInt8]) async throws {
    try blobs.publish(blobs.seal(bytes))
  }
}
