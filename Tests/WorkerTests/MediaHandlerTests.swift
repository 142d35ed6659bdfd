import Blobs
import Crypto
import Glibc
import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Telemetry
import Testing

@testable import Worker

@Suite("Attempts with media", .tags(.database), .timeLimit(.minutes(60)))
struct MediaHandlerTests {
  // MARK: Slots and isolation

  @Test("a job without a slot is released, and a job returns its slot")
  func slots() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      let held = try await fixture.claim()
      #expect(await fixture.handler().handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.job(held.job.publicID).state == .available)
      let handler = fixture.handler(FakeMedia())
      let again = try await fixture.claim()
      #expect(await handler.handle(again, isAlone: true, log: WorkerFixture.log) == .healthy)
      #expect(handler.free.take() != nil)
      #expect(handler.takesMore)
    }
  }

  @Test(
    "a job uses all cores if it is alone among several slots",
    arguments: [(2, true, "run latency"), (2, false, "run throughput"), (1, true, "run throughput")])
  func mode(slots: Int, isAlone: Bool, request: String) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submitMoment()
      let media = FakeMedia()
      #expect(try await fixture.attempt(media, isAlone: isAlone, slots: slots) == .healthy)
      #expect(media.requests.withLock { $0 } == ["probe", request])
      #expect(try await fixture.post(post).status == .ready)
    }
  }

  @Test(
    "a job that was lost twice, or whose inputs crashed before, runs isolated, and uses all cores",
    arguments: [(0, false), (1, false), (2, false), (0, true)])
  func isolated(lost: Int, crashed: Bool) async throws {
    try await WorkerFixture.with { fixture in
      _ = try await fixture.submitMoment()
      if crashed { try await fixture.attempt(FakeMedia.failing(.crashed)) }
      try await fixture.pool.run { _ = try $0.execute("UPDATE job SET lost = $1::int", .integer(lost)) }
      let media = FakeMedia()
      try await fixture.attempt(media, isAlone: false, slots: 2)
      let isIsolated = lost > 1 || crashed
      #expect(media.requests.withLock { $0 } == ["probe", isIsolated ? "run latency" : "run throughput"])
    }
  }

  @Test("a job that is to stop before it starts does not reach the media process")
  func stoppedEarly() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      let held = try await fixture.claim()
      held.stop(.drained)
      let media = FakeMedia()
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(media.requests.withLock { $0.isEmpty })
      #expect(try await fixture.job(held.job.publicID).state == .available)
    }
  }

  @Test("a job that is to stop after its media work publishes nothing", arguments: [true, false])
  func stoppedLate(isMoment: Bool) async throws {
    try await WorkerFixture.with { fixture in
      let post = isMoment ? try await fixture.submitMoment() : try await fixture.submit()
      let held = try await fixture.claim()
      let media = FakeMedia { () async throws(MediaFailure) in held.stop(.drained) }
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.job(held.job.publicID).state == .available)
      #expect(try await fixture.post(post).status == .processing)
    }
  }

  // MARK: Ends of jobs

  @Test("a job that fails in its last attempt is dead, and its post has failed")
  func lastAttempt() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit(attempts: 2)
      try await fixture.attempt(FakeMedia.failing(.internal))
      #expect(try await fixture.post(post).status == .processing)
      try await fixture.attempt(FakeMedia.failing(.internal))
      #expect(try await fixture.post(post).status == .failed)
      #expect(try await fixture.post(post).job?.state == .dead)
      #expect(fixture.outcomes == ["retried": 1, "dead": 1])
    }
  }

  @Test("a job that was postponed for a day is dead")
  func postponedTooLong() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      try await fixture.attempt(FakeMedia.failing(.outOfSpace))
      #expect(try await fixture.post(post).job?.state == .scheduled)
      try await fixture.pool.run { _ = try $0.execute("UPDATE job SET postponed_at = postponed_at - interval '1 day'") }
      try await fixture.attempt(FakeMedia.failing(.outOfSpace))
      #expect(try await fixture.post(post).job?.state == .dead)
      #expect(fixture.outcomes == ["postponed": 1, "dead": 1])
    }
  }

  @Test("an ending that the database refuses for good leaves the job to the reaper; other jobs continue")
  func refused() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      let held = try await fixture.claim()
      try await fixture.pool.run { try $0.executeScript("ALTER TABLE media_crash RENAME TO hidden", name: "by hand") }
      let record = AttemptRecord(
        held: held, pool: fixture.pool, store: fixture.store, log: WorkerFixture.log, clock: fixture.clock)
      let work = try Work.sample
      guard case .interrupted = await record.write(.interrupted(work, MediaFailure(.interrupted, ""))) else {
        Issue.record("another ending was written")
        return
      }
      #expect(try await fixture.job(held.job.publicID).state == .executing)
      #expect(fixture.outcomes.isEmpty)
    }
  }

  // MARK: Reading of work

  @Test(
    "a job of an unknown kind, and one with a definition that cannot be read, is postponed, for a newer worker",
    arguments: [
      "UPDATE job SET kind = 'newer'" as Statement,
      "UPDATE definition SET body = '{}'",
    ])
  func newer(_ statement: Statement) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit(attempts: 1)
      try await fixture.pool.run { _ = try $0.execute(statement) }
      let media = FakeMedia()
      for _ in 0..<3 {
        // The queue is not paused: other jobs run.
        #expect(try await fixture.attempt(media) == .unknown)
        #expect(try await fixture.post(post).job?.state == .scheduled)
      }
      #expect(fixture.outcomes == ["postponed": 3])
      #expect(media.requests.withLock { $0.isEmpty })
    }
  }

  @Test("an item of a run whose definition only a newer worker can read is postponed")
  func newerItem() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      try await fixture.attempt(FakeMedia())
      _ = try await fixture.reprocess()
      let held = try await fixture.claim(from: ReprocessJob.queue)
      try await fixture.pool.run {
        _ = try $0.execute("UPDATE definition SET body = '{}'")
      }
      #expect(await fixture.handler(FakeMedia()).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.job(held.job.publicID).state == .scheduled)
    }
  }

  @Test("an item whose definition is for other media than its sources fails at once, and its run ends")
  func otherMedia() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      try await fixture.attempt(FakeMedia())
      _ = try await fixture.submitMoment()
      let id = try await fixture.reprocess()
      try await fixture.pool.run {
        _ = try $0.execute(
          "UPDATE job SET definition = (SELECT hash FROM definition WHERE name = 'take5-post') WHERE kind = 'reprocess'"
        )
      }
      let held = try await fixture.claim(from: ReprocessJob.queue)
      let media = FakeMedia()
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(media.requests.withLock { $0.isEmpty })
      #expect(try await fixture.post(post).status == .ready)
      let (run, failures) = try await fixture.pool.transaction { session in
        _ = try Reprocessing.schedule(session)
        let run = try #require(try Reprocessing.find(id, session))
        return (run, try Reprocessing.failures(of: run, limit: 2, session).map(\.error))
      }
      #expect(run.state == .completed)
      #expect(failures.count == 1 && failures.first?.contains("other media") == true, "\(failures)")
    }
  }

  @Test("the job of a post that was deleted after the job was claimed is cancelled, not dead")
  func deletedSubject() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      let held = try await fixture.claim()
      try await fixture.pool.run { _ = try $0.execute("DELETE FROM post") }
      _ = await fixture.handler(FakeMedia()).handle(held, isAlone: true, log: WorkerFixture.log)
      #expect(try await fixture.job(held.job.publicID).state == .cancelled)
    }
  }

  @Test("the job of an item ends at once without a subject, with an outcome, or if the run is cancelled")
  func items() async throws {
    for statement: Statement in [
      "DELETE FROM post", "UPDATE reprocess_item SET outcome = 'cancelled', ended_at = now()",
      "UPDATE reprocess_run SET state = 'cancelled'",
    ] {
      try await WorkerFixture.with { fixture in
        try await fixture.submit()
        try await fixture.attempt(FakeMedia())
        _ = try await fixture.reprocess()
        let held = try await fixture.claim(from: ReprocessJob.queue)
        try await fixture.pool.run { _ = try $0.execute(statement) }
        let media = FakeMedia()
        #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
        #expect(media.requests.withLock { $0.isEmpty })
        #expect(try await fixture.job(held.job.publicID).state == .cancelled)
      }
    }
  }

  @Test("an outage of the database before an attempt does not pause the queue")
  func databaseAway() async throws {
    try await WorkerFixture.with { fixture in
      try await fixture.submit()
      let held = try await fixture.claim()
      // A closed pool fails like a server that cannot be reached.
      let closed = Pool(fixture.url, size: 1)
      await closed.close()
      let media = FakeMedia()
      let handler = fixture.handler(media, pool: closed)
      let handling = Task { await handler.handle(held, isAlone: true, log: WorkerFixture.log) }
      try await fixture.clock.sleepers(for: .milliseconds(200))
      held.stop(.leaseLost)
      fixture.clock.advance(by: .milliseconds(200))
      #expect(await handling.value == .unknown)
      #expect(media.requests.withLock { $0.isEmpty })
    }
  }
}
