import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

/// What is not a job's own fault costs it nothing.
@Suite("Faults and the blame for them", .tags(.database))
struct FaultTests {
  private static var policy: FaultPolicy {
    var policy = FaultPolicy()
    policy.stagesAtRisk = ["compose"]
    return policy
  }

  /// How a worker is lost, and what speaks for its job.
  enum Loss: CaseIterable {
    case beforeAnyStage
    case inAHarmlessStage
    case besideAnotherJob
    case besideAnotherWorker
    case afterAnotherWorker
    case afterGoodbye
  }

  @Test(
    "a job that is not alone to blame for the loss of its worker loses no attempt, however often",
    arguments: Loss.allCases)
  func blameless(_ loss: Loss) async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 1)
      try JobQueue.enqueue(job, session)
      for number in 1...5 {
        try lose(session, loss)
        let found = try #require(try JobQueue.find(job.publicID, session))
        #expect(found.state == .scheduled && found.attempt == 0 && found.lost == number)
        _ = try JobQueue.retryNow(job.publicID, session)
      }
    }
  }

  @Test(
    "one that was alone with its worker, in a stage that can break one, is dead the third time, after longer and longer pauses"
  )
  func blamed() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 9)
      try JobQueue.enqueue(job, session)
      var pauses: [Double] = []
      for expected in [JobState.scheduled, .scheduled, .dead] {
        try report("compose", claim(session), session)
        try silence(session)
        #expect(try JobQueue.reap(by: Self.policy, session).map(\.state) == [expected])
        guard expected == .scheduled else { break }
        pauses.append(
          try session.execute("SELECT extract(epoch FROM run_at - clock_timestamp())::float8 FROM job").single().get(0))
        _ = try JobQueue.retryNow(job.publicID, session)
      }
      #expect(pauses.count == 2 && pauses[1] > pauses[0])
      #expect(try JobQueue.find(job.publicID, session)?.attempt == 3)
    }
  }

  @Test("what lasts longer than a day is given up")
  func day() async throws {
    try await withSession { session in
      let job = QueueDatabase.job()
      try JobQueue.enqueue(job, session)
      try lose(session, .afterGoodbye)
      try session.execute("UPDATE job SET postponed_at = clock_timestamp() - interval '25 hours', state = 'a'")
      try lose(session, .afterGoodbye)
      #expect(try JobQueue.find(job.publicID, session)?.state == .dead)
    }
  }

  @Test("a job that is postponed keeps its attempts, and tells since when")
  func postponed() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 1)
      try JobQueue.enqueue(job, session)
      let first = try claim(session)
      #expect(first.postponedSeconds == nil)
      try JobQueue.postpone(first, seconds: 60, error: "the storage is full", session)
      let found = try #require(try JobQueue.find(job.publicID, session))
      #expect(found.state == .scheduled && found.attempt == 0 && found.error == "the storage is full")
      try session.execute("UPDATE job SET postponed_at = postponed_at - interval '1 hour', state = 'a'")
      let second = try claim(session)
      #expect(second.attempt == 1)
      #expect(try #require(second.postponedSeconds) >= 3600)
      #expect(throws: LeaseLost.self) { try JobQueue.postpone(first, seconds: 1, error: "", session) }
    }
  }

  @Test("pauses grow with the time that a fault lasts, up to five minutes, for a day")
  func pauses() {
    let policy = RetryPolicy()
    #expect(policy.next(postponedFor: nil, random: 0.5) == .retry(seconds: 1))
    #expect(policy.next(postponedFor: 60, random: 0.5) == .retry(seconds: 15))
    #expect(policy.next(postponedFor: 3600, random: 0.5) == .retry(seconds: 300))
    #expect(policy.next(postponedFor: 25 * 3600, random: 0.5) == .bury)
  }

  @Test("a job that died while others lost their workers comes back by itself, and one that died in peace does not")
  func revived() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 1)
      try JobQueue.enqueue(job, session)
      try JobQueue.bury(claim(session), error: "it broke", session)
      var policy = Self.policy
      policy.revival = .zero
      #expect(try JobQueue.revive(by: policy, session).isEmpty)
      // Its own loss says nothing of the others.
      let id = try session.execute("SELECT id FROM job_dead").single().get(0, as: Int64.self)
      try session.execute("INSERT INTO worker_loss (worker_id, job_id) VALUES (-1, $1)", .integer(id))
      #expect(try JobQueue.revive(by: policy, session).isEmpty)
      try session.execute("INSERT INTO worker_loss (worker_id) VALUES (-2)")
      #expect(try JobQueue.revive(by: Self.policy, session).isEmpty)
      #expect(try JobQueue.revive(by: policy, session) == [job.publicID: "media"])
      let again = try claim(session)
      #expect(again.attempt == 1 && again.postponedSeconds != nil)
      // It dies again, and a day after the first time nobody comes for it any more.
      try JobQueue.bury(again, error: "it broke", session)
      try session.execute("UPDATE job_dead SET postponed_at = clock_timestamp() - interval '25 hours'")
      #expect(try JobQueue.revive(by: policy, session).isEmpty)
      // Who asks for it lets it begin anew.
      #expect(try JobQueue.retryNow(job.publicID, session))
      #expect(try claim(session).postponedSeconds == nil)
    }
  }

  @Test("what is known of lost workers is forgotten after a day")
  func forgotten() async throws {
    try await withSession { session in
      try session.execute(
        "INSERT INTO worker_loss VALUES (-1, NULL, clock_timestamp() - interval '25 hours'), (-2, NULL, clock_timestamp())"
      )
      _ = try JobQueue.reap(session)
      #expect(try session.execute("SELECT worker_id FROM worker_loss").single().get(0, as: Int.self) == -2)
    }
  }

  // MARK: Losses

  /// Lets the one job that waits be claimed, and its worker be lost in a way that is not its fault.
  private func lose(_ session: Session, _ loss: Loss) throws {
    try session.execute("DELETE FROM worker_loss")
    let worker = try JobQueue.register(host: "here", process: 1, session)
    let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
    if loss != .beforeAnyStage { try report(loss == .inAHarmlessStage ? "publish" : "compose", job, session) }
    switch loss {
    case .beforeAnyStage, .inAHarmlessStage: break
    case .besideAnotherJob:
      try enqueueElsewhere("others", session)
      #expect(try JobQueue.claim(worker: worker, queue: "others", limit: 1, session).count == 1)
    case .besideAnotherWorker:
      let other = try JobQueue.register(host: "here", process: 2, session)
      try enqueueElsewhere("others", session)
      #expect(try JobQueue.claim(worker: other, queue: "others", limit: 1, session).count == 1)
    case .afterAnotherWorker:
      try session.execute("INSERT INTO worker_loss VALUES (-1, NULL, clock_timestamp() - interval '9 minutes')")
    case .afterGoodbye: try JobQueue.deregister(worker: worker, session)
    }
    try silence(session)
    #expect(try JobQueue.reap(by: Self.policy, session).contains { $0.id == job.id })
    try session.execute("DELETE FROM job WHERE queue = 'others'")
  }

  private func enqueueElsewhere(_ queue: String, _ session: Session) throws {
    var job = QueueDatabase.job()
    job.queue = queue
    try JobQueue.enqueue(job, session)
  }

  private func report(_ stage: String, _ job: ClaimedJob, _ session: Session) throws {
    try JobQueue.report(JobProgress(fraction: 0.5, stage: stage), of: job, session)
  }

  private func silence(_ session: Session) throws {
    try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
  }

  private func withSession(_ body: @escaping @Sendable (Session) throws -> Void) async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run(body)
      await pool.close()
    }
  }

  private func claim(_ session: Session) throws -> ClaimedJob {
    let worker = try JobQueue.register(host: "here", process: 1, session)
    return try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
  }
}
