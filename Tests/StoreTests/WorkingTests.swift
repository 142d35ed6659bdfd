import Crypto
import Model
import Postgres
import Queue
import Store
import Testing

@Suite("Ends of attempts", .tags(.database))
struct WorkingTests {
  private let refused = Verdict(
    reasons: [Reason(.durationOutOfRange, input: .front, detail: "6.0 s")], inputs: [:], decisions: [])

  @Test("Published outputs become the post's, the job keeps the verdict, and the bytes are served")
  func publishing() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let claim = try await fixture.claim()
      try await fixture.publish(claim)

      let post = try await fixture.post(id)
      #expect(post.status == .ready)
      #expect(post.job?.state == .completed)
      #expect(post.job?.progress == 1)
      #expect(Set(post.assets.keys) == [.composed, .image])
      let composed = try #require(post.assets[.composed])
      #expect(composed.width == 1080 && composed.height == 1920 && composed.duration == 5)
      #expect(try fixture.content(SHA256.digest(of: Array("composed ".utf8))) == "composed ")

      let image = try #require(post.assets[.image])
      let stored = try await fixture.pool.run { session in try fixture.store.asset(image.id, session) }
      #expect(stored?.asset == image)
      #expect(stored?.inline == Array("image ".utf8))
      #expect(image.sha256 == SHA256.digest(of: Array("image ".utf8)).hex)

      let job = try await fixture.pool.run { session in try JobQueue.find(claim.job.publicID, session) }
      let verdict = try JSON.decode(Verdict.self, from: try #require(job?.result))
      #expect(verdict == StoreFixture.accepted)
      try await fixture.checkFiles()
    }
  }

  @Test("A definition that cannot be read says why, and is told from one that is not stored")
  func unreadableDefinition() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      let job = try await fixture.claim().job
      try await fixture.pool.run {
        try $0.executeScript("UPDATE definition SET body = body - 'deadline_seconds'", name: "by hand")
      }
      await #expect(throws: StoreError.unreadableDefinition(job.publicID, "deadline_seconds is missing")) {
        _ = try await fixture.pool.run { try fixture.store.work(for: job, $0) }
      }
      try await fixture.pool.run { try $0.executeScript("DELETE FROM definition", name: "by hand") }
      await #expect(throws: StoreError.noDefinition(job.publicID)) {
        _ = try await fixture.pool.run { try fixture.store.work(for: job, $0) }
      }
    }
  }

  @Test("Arguments that cannot be read say why")
  func unreadableArguments() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      try await fixture.pool.run { try $0.executeScript("UPDATE job SET arguments = '{}'", name: "by hand") }
      let job = try await fixture.pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first
      }
      let claimed = try #require(job)
      await #expect(throws: StoreError.unreadableJob(claimed.publicID, "post is missing")) {
        _ = try await fixture.pool.run { try fixture.store.work(for: claimed, $0) }
      }
    }
  }

  @Test("A zombie's whole transaction is undone: no set, no asset, no row of a blob, the job with its new holder")
  func zombie() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let zombie = try await fixture.claim()
      // The zombie's worker gives no sign of life; the job goes to another.
      #expect(try await fixture.reap().map(\.state) == [.scheduled])
      try await fixture.pool.run { session in
        try session.execute("UPDATE job SET run_at = clock_timestamp()")
        _ = try JobQueue.promote(session)
      }
      let heir = try await fixture.claim()
      #expect(heir.job.publicID == zombie.job.publicID)
      let sets = try await fixture.count("asset_set")
      let blobs = try await fixture.count("blob")

      await #expect(throws: LeaseLost.self) { try await fixture.publish(zombie, "by the zombie") }
      await #expect(throws: LeaseLost.self) {
        try await fixture.pool.transaction { session in
          try fixture.store.reject(zombie.work, job: zombie.job, verdict: refused, session)
        }
      }
      #expect(try await fixture.count("asset_set") == sets)
      #expect(try await fixture.count("blob") == blobs)
      #expect(try await fixture.post(id).status == .processing)

      try await fixture.publish(heir, "by the heir")
      await #expect(throws: LeaseLost.self) { try await fixture.publish(heir, "again") }
      #expect(try await fixture.post(id).status == .ready)
      #expect(try await fixture.count("asset_set") == sets + 1)
    }
  }

  @Test("A rejected post keeps its reasons; its sources go, unless another post has them too")
  func rejecting() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit("shared", "own")
      let claim = try await fixture.claim()
      let other = try await fixture.submit("shared", "other")
      try await fixture.pool.transaction { session in
        try fixture.store.reject(claim.work, job: claim.job, verdict: refused, session)
      }
      // Nothing is removed before the rejection is certain.
      #expect(try fixture.holds(claim.work.moment.back))
      try await fixture.collect()

      let post = try await fixture.post(id)
      #expect(post.status == .rejected)
      #expect(post.reasons == refused.reasons)
      #expect(post.job?.state == .completed)
      #expect(try !fixture.holds(claim.work.moment.back))
      #expect(try fixture.holds(claim.work.moment.front))
      #expect(try await fixture.count("blob") == 2)
      #expect(try await fixture.count("blob_release") == 0)
      #expect(try await fixture.claim().work.subject == .post(other))
    }
  }

  @Test("A rejection that is rolled back leaves the sources whole")
  func rejectionUndone() async throws {
    struct Interrupted: Error {}
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let claim = try await fixture.claim()
      await #expect(throws: Interrupted.self) {
        try await fixture.pool.transaction { session in
          try fixture.store.reject(claim.work, job: claim.job, verdict: refused, session)
          throw Interrupted()
        }
      }
      try await fixture.collect()
      try await fixture.checkFiles()
      #expect(try await fixture.post(id).status == .processing)
      try await fixture.publish(claim)
    }
  }

  @Test("Sources that the definition does not keep go once the outputs are there")
  func sourcesNotKept() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.keepSources = false }
      let claim = try await fixture.claim()
      try await fixture.publish(claim)
      try await fixture.collect()
      #expect(try !fixture.holds(claim.work.moment.front))
      #expect(try await fixture.post(id).assets.count == 2)
      try await fixture.checkFiles()
    }
  }

  @Test("Crashes are counted by the inputs, whatever post they came with, and forgiven by a success")
  func crashes() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("evil", "clip")
      try await fixture.submit("evil", "clip")
      try await fixture.submit("good", "clip")
      let claims = [try await fixture.claim(), try await fixture.claim(), try await fixture.claim()]
      func crash(_ claim: StoreFixture.Claim) async throws -> Int {
        try await fixture.pool.transaction {
          try fixture.store.countCrash(of: claim.work, error: "SIGSEGV", isProven: true, $0)
        }
      }
      #expect(try await crash(claims[0]) == 1)
      #expect(try await crash(claims[1]) == 2)
      #expect(try await crash(claims[2]) == 1)
      try await fixture.publish(claims[0])
      #expect(try await crash(claims[1]) == 1)
    }
  }

  @Test("A post of a dead job has failed; tried again it is processing, with all its attempts")
  func deadAndBack() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.attempts = 1 }
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { session in
        try JobQueue.bury(claim.job, error: "disk full", session)
        try fixture.store.fail(job: claim.job.publicID, session)
      }
      #expect(try await fixture.post(id).status == .failed)
      #expect(try await fixture.post(id).job?.state == .dead)
      let job = claim.job.publicID
      #expect(try await fixture.pool.transaction { try fixture.store.retry(job: job, $0) })
      #expect(try await fixture.post(id).status == .processing)
      let again = try await fixture.claim()
      #expect(again.job.attempt == 1)
      try await fixture.publish(again)
      #expect(try await fixture.post(id).status == .ready)
      #expect(try await fixture.pool.transaction { try !fixture.store.retry(job: job, $0) })
    }
  }

  @Test("A job that is past its deadline for the last time takes its post with it")
  func deadlinePassed() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.attempts = 1 }
      _ = try await fixture.claim()
      let ended = try await fixture.pool.transaction { [store = fixture.store] session in
        try session.execute("UPDATE job SET deadline_at = statement_timestamp() WHERE state = 'x'")
        let reaped = try JobQueue.reap(session)
        try store.fail(reaped, session)
        return reaped
      }
      #expect(ended.map(\.state) == [.dead])
      #expect(try await fixture.post(id).status == .failed)
    }
  }

  @Test("Cancelling a waiting job fails its post; one that runs is asked to stop")
  func cancelling() async throws {
    try await StoreFixture.with { fixture in
      let waiting = try await fixture.submit()
      let job = try #require(try await fixture.post(waiting).job).id
      #expect(try await fixture.pool.transaction { try fixture.store.cancel(job: job, $0) } == .cancelled)
      #expect(try await fixture.post(waiting).status == .failed)
      #expect(try await fixture.post(waiting).job?.state == .cancelled)
      #expect(try await fixture.pool.transaction { try fixture.store.cancel(job: job, $0) } == .notLive)

      let running = try await fixture.submit()
      let claim = try await fixture.claim()
      let other = claim.job.publicID
      #expect(try await fixture.pool.transaction { try fixture.store.cancel(job: other, $0) } == .requested)
      #expect(try await fixture.post(running).status == .processing)
    }
  }
}
