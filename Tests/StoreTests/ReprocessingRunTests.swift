import Blobs
import Crypto
import FoundationEssentials
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

@Suite("Runs of reprocessing", .tags(.database))
struct ReprocessingRunTests {
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
}
