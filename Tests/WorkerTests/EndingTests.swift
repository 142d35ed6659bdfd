import Blobs
import MediaProcess
import Model
import Postgres
import PostgresTesting
import Queue
import Store
import Testing

@testable import Worker

/// An ending of an attempt, with what it leads to.
enum Ending: CaseIterable, Sendable {
  case accepted, rejected, broken, interrupted, unable, crowded, damaged, failed
  case drained, cancelled, leaseLost, unchanged, superseded

  static let outage = MediaFailure(.outOfSpace, "no room")

  /// Whether the job belongs to an item of a run.
  var isReprocessing: Bool { self == .unchanged || self == .superseded }

  var job: (state: JobState, attempt: Int) {
    switch self {
    case .accepted, .rejected, .unchanged: (.completed, 1)
    case .broken, .interrupted, .unable, .crowded: (.scheduled, 0)
    case .damaged, .failed: (.scheduled, 1)
    case .drained: (.available, 0)
    case .cancelled, .superseded: (.cancelled, 1)
    case .leaseLost: (.executing, 1)
    }
  }

  var post: PostStatus {
    switch self {
    case .accepted, .unchanged, .superseded: .ready
    case .rejected: .rejected
    case .cancelled: .failed
    case .broken, .interrupted, .unable, .crowded, .damaged, .failed, .drained, .leaseLost: .processing
    }
  }

  /// The outcome in the metrics.
  var outcome: String {
    switch self {
    case .accepted: "accepted"
    case .rejected: "rejected"
    case .broken, .interrupted, .unable: "postponed"
    case .crowded: "snoozed"
    case .damaged, .failed: "retried"
    case .drained: "released"
    case .cancelled, .superseded: "cancelled"
    case .leaseLost: "lost"
    case .unchanged: "skipped"
    }
  }

  var health: ServiceHealth {
    switch self {
    case .accepted, .rejected, .unchanged: .healthy
    case .unable: .outage(Outage(Self.outage.description))
    default: .unknown
    }
  }

  /// A media process that gives the ending.
  func media(of held: HeldJob) -> FakeMedia {
    let stop: HeldJob.StopReason
    switch self {
    case .accepted, .crowded, .damaged, .unchanged, .superseded: return FakeMedia()
    case .rejected: return FakeMedia(reason: Reason(.corruptVideo, input: nil, detail: "broken"))
    case .broken: return Self.failing(MediaFailure(.crashed, "SIGSEGV"))
    case .interrupted: return Self.failing(MediaFailure(.interrupted, "SIGKILL"))
    case .unable: return Self.failing(Self.outage)
    case .failed: return Self.failing(MediaFailure(.internal, "a bug"))
    case .drained: stop = .drained
    case .cancelled: stop = .cancelled
    case .leaseLost: stop = .leaseLost
    }
    return FakeMedia { () async throws(MediaFailure) in
      held.stop(stop)
      throw MediaFailure(.cancelled, "")
    }
  }

  private static func failing(_ failure: MediaFailure) -> FakeMedia {
    FakeMedia { () async throws(MediaFailure) in throw failure }
  }
}

@Suite("Endings of attempts", .tags(.database), .timeLimit(.minutes(60)))
struct EndingTests {
  @Test("each ending has its effect on the job and the post", arguments: Ending.allCases)
  func effects(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      let prepared = try await prepare(ending, fixture)
      let health = await prepared.handling().value
      #expect(health == ending.health)
      try await check(ending, prepared)
    }
  }

  @Test("after the loss of the lease no ending changes anything", arguments: Ending.allCases)
  func leaseLost(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      let prepared = try await prepare(ending, fixture)
      try await fixture.reap()
      let (before, outcomes) = (try await fixture.rows(), fixture.outcomes)
      _ = await prepared.handling().value
      #expect(try await fixture.rows() == before)
      if ending != .leaseLost { #expect(fixture.outcomes == outcomes) }
    }
  }

  @Test(
    "an ending is written once the database accepts writes again",
    arguments: Ending.allCases.filter { $0 != .leaseLost })
  func databaseAway(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      let prepared = try await prepare(ending, fixture)
      try setReadOnly(true, fixture.url)
      let handling = prepared.handling()
      try await fixture.clock.sleepers(for: .milliseconds(200))
      try setReadOnly(false, fixture.url)
      fixture.clock.advance(by: .milliseconds(200))
      #expect(await handling.value == ending.health)
      try await check(ending, prepared)
    }
  }

  @Test(
    "a worker that loses its lease during an outage of the database writes nothing afterwards",
    arguments: Ending.allCases.filter { $0 != .leaseLost })
  func databaseAwayAndLeaseLost(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      let prepared = try await prepare(ending, fixture)
      let before = try await fixture.rows()
      try setReadOnly(true, fixture.url)
      let handling = prepared.handling()
      try await fixture.clock.sleepers(for: .milliseconds(200))
      prepared.held.stop(.leaseLost)
      fixture.clock.advance(by: .milliseconds(200))
      _ = await handling.value
      try setReadOnly(false, fixture.url)
      #expect(try await fixture.rows() == before)
    }
  }

  @Test(
    "a job whose cancellation the worker does not know yet gets no further attempt, and a result counts",
    arguments: Ending.allCases)
  func cancellation(ending: Ending) async throws {
    try await WorkerFixture.with { fixture in
      let prepared = try await prepare(ending, fixture)
      let id = prepared.held.job.publicID
      let outcome = try await fixture.pool.transaction { try JobControl.cancel(job: id, $0) }
      #expect(outcome == .requested)
      _ = await prepared.handling().value
      let (job, post) = (try await fixture.job(id), try await fixture.post(prepared.post))
      switch ending {
      case .accepted, .rejected, .unchanged, .superseded, .leaseLost:
        #expect(job.state == ending.job.state && post.status == ending.post)
      default: #expect(job.state == .cancelled && post.status == .failed)
      }
    }
  }

  // MARK: Support

  /// A claimed job whose attempt has the ending.
  private struct Prepared {
    let fixture: WorkerFixture
    let ending: Ending
    let post: PublicID
    let held: HeldJob

    /// Handles the job.
    func handling() -> Task<ServiceHealth, Never> {
      let handler = fixture.handler(ending.media(of: held))
      return Task { [fixture, ending, held] in
        async let turning: Void = {
          guard ending == .crowded else { return }
          // Another job runs for longer than this one waits.
          try await fixture.clock.sleepers(for: .seconds(20))
          fixture.clock.advance(by: .seconds(20))
        }()
        if ending == .crowded { _ = await handler.isolation.enter(alone: false, within: .seconds(20)) }
        let health = await handler.handle(held, isAlone: true, log: WorkerFixture.log)
        do { try await turning } catch { Issue.record(error) }
        return health
      }
    }
  }

  private func prepare(_ ending: Ending, _ fixture: WorkerFixture) async throws -> Prepared {
    let post = try await fixture.submit()
    guard ending.isReprocessing else {
      if ending == .crowded { try await fixture.pool.run { _ = try $0.execute("UPDATE job SET lost = 2") } }
      let held = try await fixture.claim()
      if ending == .damaged {
        try fixture.blobs.remove(try await fixture.source(of: held.job))
      }
      return Prepared(fixture: fixture, ending: ending, post: post, held: held)
    }
    #expect(try await fixture.attempt(FakeMedia()) == .healthy)
    let id = try await fixture.reprocess()
    let held = try await fixture.claim(from: ReprocessJob.queue)
    if ending == .superseded {
      _ = try await fixture.pool.transaction { session in
        try Reprocessing.change(try #require(try Reprocessing.find(id, session)), to: .paused, session)
      }
    }
    return Prepared(fixture: fixture, ending: ending, post: post, held: held)
  }

  private func check(_ ending: Ending, _ prepared: Prepared) async throws {
    let fixture = prepared.fixture
    let job = try await fixture.job(prepared.held.job.publicID)
    #expect(job.state == ending.job.state && job.attempt == ending.job.attempt)
    let post = try await fixture.post(prepared.post)
    #expect(post.status == ending.post)
    #expect(fixture.outcomes[ending.outcome] == 1)
    #expect(fixture.outcomes.count == (ending.isReprocessing ? 2 : 1))
    let isSuspect = try await fixture.pool.run { try !$0.execute("SELECT FROM media_crash").isEmpty }
    #expect(isSuspect == (ending == .broken || ending == .interrupted))
  }
}
