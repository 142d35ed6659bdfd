import Crypto
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

@Suite("Endings of attempts", .tags(.database))
struct WorkingTests {
  private let refused = Verdict(
    reasons: [Reason(.durationOutOfRange, input: .front, detail: "6.0 s")], inputs: [:], decisions: [])

  @Test("a publication stores the outputs, the assets of the post and the verdict of the job")
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
      // For every viewer, of whom most may not read the job.
      #expect(post.offsetSeconds == 0.18)
      let composed = try #require(post.assets[.composed])
      #expect(composed.width == 1080 && composed.height == 1920 && composed.duration == 5)
      #expect(try fixture.content(SHA256.digest(of: Array("composed ".utf8))) == "composed ")

      let image = try #require(post.assets[.image])
      let stored = try await fixture.pool.run { session in
        try Assets.find(image.id, for: .unrestricted, session)
      }
      #expect(stored?.asset == image)
      #expect(stored?.inline == Array("image ".utf8))
      #expect(image.sha256 == SHA256.digest(of: Array("image ".utf8)).hex)

      let job = try await fixture.pool.run { session in try JobQueue.find(claim.job.publicID, session) }
      let verdict = try JSON.decode(Verdict.self, from: try #require(job?.result))
      #expect(verdict == StoreFixture.accepted)
      try await fixture.checkFiles()
    }
  }

  @Test("a definition that does not decode gives an error with the reason, and a missing definition another error")
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

  @Test(
    "the error for a stored definition names the key that it lacks, as after a new version of take5 requires one",
    arguments: [
      ("{limits,frames_per_second}", "limits.frames_per_second is missing"),
      ("{outputs,composed,video}", "outputs.composed.video is missing"),
      ("{inputs,front,kind}", "inputs.front.kind is missing"), ("{keep_sources}", "keep_sources is missing"),
    ])
  func missingKey(path: String, reason: String) async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      let job = try await fixture.claim().job
      try await fixture.pool.run {
        _ = try $0.execute("UPDATE definition SET body = body #- $1::text[]", .text(path))
      }
      let error = await #expect(throws: StoreError.self) {
        _ = try await fixture.pool.run { try fixture.store.work(for: job, $0) }
      }
      #expect(error == .unreadableDefinition(job.publicID, reason))
      #expect(error?.description == "the definition of job \(job.publicID) cannot be read: \(reason)")
    }
  }

  @Test("the error for stored reasons that do not decode names the column and the key")
  func unreadableReasons() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      try await fixture.pool.run {
        try $0.executeScript(#"UPDATE post SET reasons = '[{"code": "empty_file"}]'"#, name: "by hand")
      }
      let error = await #expect(throws: PostgresError.self) { _ = try await fixture.post(id) }
      #expect(error?.message == "column reasons cannot be read: [0].detail is missing")
    }
  }

  @Test("arguments that do not decode give an error with the reason")
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

  @Test(
    "the transaction of a worker that has lost its lease is rolled back completely, and the new worker keeps the job")
  func stale() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let stale = try await fixture.claim()
      // The worker sends no heartbeat, so its job is reaped.
      #expect(try await fixture.reap().map(\.state) == [.scheduled])
      try await fixture.pool.run { session in
        try session.execute("UPDATE job SET run_at = clock_timestamp()")
        _ = try JobQueue.promote(session)
      }
      let successor = try await fixture.claim()
      #expect(successor.job.publicID == stale.job.publicID)
      let sets = try await fixture.count("asset_set")
      let blobs = try await fixture.count("blob")

      await #expect(throws: LeaseLost.self) { try await fixture.publish(stale, "late") }
      await #expect(throws: LeaseLost.self) {
        try await fixture.pool.transaction { session in
          try fixture.store.reject(stale.work, job: stale.job, verdict: refused, session)
        }
      }
      #expect(try await fixture.count("asset_set") == sets)
      #expect(try await fixture.count("blob") == blobs)
      #expect(try await fixture.post(id).status == .processing)

      try await fixture.publish(successor, "first")
      await #expect(throws: LeaseLost.self) { try await fixture.publish(successor, "again") }
      #expect(try await fixture.post(id).status == .ready)
      #expect(try await fixture.count("asset_set") == sets + 1)
    }
  }

  @Test("a post that is rejected where no sources are kept has the reasons alone; a source of another post stays")
  func rejecting() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit("shared", "own")
      let claim = try await fixture.claim()
      let other = try await fixture.submit("shared", "other")
      try await fixture.pool.transaction { session in
        try Store(blobs: fixture.blobs, rooms: .all, keepRejected: .zero).reject(
          claim.work, job: claim.job, verdict: refused, session)
      }
      // Files are removed only after the commit of the rejection.
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

  @Test("a rejection that is rolled back removes no source")
  func rejectionRolledBack() async throws {
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

  @Test("sources that the definition does not keep are removed after the publication")
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

  @Test("crashes are counted by inputs, regardless of the post, and a publication resets the count")
  func crashes() async throws {
    try await StoreFixture.with { fixture in
      for front in ["evil", "evil", "evil", "good"] { try await fixture.submit(front, "clip") }
      var claims: [StoreFixture.Claim] = []
      for _ in 0..<4 { claims.append(try await fixture.claim()) }
      func crash(_ claim: StoreFixture.Claim) async throws -> Int {
        try await fixture.pool.transaction {
          try Quarantine.countCrash(CrashFacts(code: .decoderCrashed, error: "SIGSEGV"), of: claim.work, $0).crashes
        }
      }
      #expect(try await crash(claims[0]) == 1)
      #expect(try await crash(claims[3]) == 1)
      try await fixture.publish(claims[0])
      #expect(try await crash(claims[1]) == 1)
      #expect(try await crash(claims[2]) == 2)
    }
  }

  @Test("the post of a dead job fails; a retry makes it processing again, with all attempts")
  func deadAndBack() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.attempts = 1 }
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { session in
        _ = try JobQueue.fail(claim.job, error: "disk full", session)
        try JobControl.fail(job: claim.job.publicID, session)
      }
      #expect(try await fixture.post(id).status == .failed)
      #expect(try await fixture.post(id).job?.state == .dead)
      let job = claim.job.publicID
      #expect(try await fixture.pool.transaction { try JobControl.retry(job: job, $0) })
      #expect(try await fixture.post(id).status == .processing)
      let again = try await fixture.claim()
      #expect(again.job.attempt == 1)
      try await fixture.publish(again)
      #expect(try await fixture.post(id).status == .ready)
      #expect(try await fixture.pool.transaction { try !JobControl.retry(job: job, $0) })
    }
  }

  @Test("the post fails when the last attempt of its job exceeds the deadline")
  func deadlinePassed() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit { $0.attempts = 1 }
      _ = try await fixture.claim()
      let ended = try await fixture.pool.transaction { session in
        try session.execute("UPDATE job SET deadline_at = statement_timestamp() WHERE state = 'x'")
        let reaped = try JobQueue.reap(session)
        try JobControl.fail(reaped, session)
        return reaped
      }
      #expect(ended.map(\.state) == [.dead])
      #expect(try await fixture.post(id).status == .failed)
    }
  }

  @Test("the cancellation of a waiting job fails its post, and of an executing job it requests a stop")
  func cancelling() async throws {
    try await StoreFixture.with { fixture in
      let waiting = try await fixture.submit()
      let job = try #require(try await fixture.post(waiting).job).id
      #expect(try await fixture.pool.transaction { try JobControl.cancel(job: job, $0) } == .cancelled)
      #expect(try await fixture.post(waiting).status == .failed)
      #expect(try await fixture.post(waiting).job?.state == .cancelled)
      #expect(try await fixture.pool.transaction { try JobControl.cancel(job: job, $0) } == .notLive)

      let running = try await fixture.submit()
      let claim = try await fixture.claim()
      let other = claim.job.publicID
      #expect(try await fixture.pool.transaction { try JobControl.cancel(job: other, $0) } == .requested)
      #expect(try await fixture.post(running).status == .processing)
    }
  }
}
