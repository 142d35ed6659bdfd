import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

@Suite("Blame for lost workers", .tags(.database))
struct FaultTests {
  private static var policy: FaultPolicy {
    var policy = FaultPolicy()
    policy.stagesAtRisk = ["compose"]
    return policy
  }

  /// A loss of a worker for which its job is not blamed.
  enum Loss: CaseIterable {
    case beforeAnyStage
    case inStageNotAtRisk
    case withAnotherJob
    case withAnotherWorker
    case afterAnotherWorker
    case afterDeregistration
  }

  @Test(
    "a job that is not blamed for the loss of its worker loses no attempt, however often it is lost",
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
    "a job that was alone on its worker, in a stage at risk, is dead after the third loss, with growing pauses before"
  )
  func blamed() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 9)
      try JobQueue.enqueue(job, session)
      var pauses: [Double] = []
      for expected in [JobState.scheduled, .scheduled, .dead] {
        try report("compose", claim(session), session)
        try expireLeases(session)
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

  @Test("a job is dead a day after its first loss")
  func day() async throws {
    try await withSession { session in
      let job = QueueDatabase.job()
      try JobQueue.enqueue(job, session)
      try lose(session, .afterDeregistration)
      try session.execute("UPDATE job SET postponed_at = clock_timestamp() - interval '25 hours', state = 'a'")
      try lose(session, .afterDeregistration)
      #expect(try JobQueue.find(job.publicID, session)?.state == .dead)
    }
  }

  @Test("a postponed job keeps its attempts and the time of its first postponement")
  func postponed() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 1)
      try JobQueue.enqueue(job, session)
      let first = try claim(session)
      #expect(try JobQueue.postpone(first, error: "the storage is full", session))
      let found = try #require(try JobQueue.find(job.publicID, session))
      #expect(found.state == .scheduled && found.attempt == 0 && found.error == "the storage is full")
      try session.execute("UPDATE job SET postponed_at = postponed_at - interval '1 hour', state = 'a'")
      let second = try claim(session)
      #expect(second.attempt == 1)
      #expect(throws: LeaseLost.self) { try JobQueue.postpone(first, error: "", session) }
      #expect(try JobQueue.postpone(second, error: "the storage is full", session))
      let row = try session.execute("SELECT postponed_at < clock_timestamp() - interval '1 hour' FROM job").single()
      #expect(try row.get(0, as: Bool.self))
    }
  }

  @Test("a job that died within the loss window of another job is revived, and another dead job is not")
  func revived() async throws {
    try await withSession { session in
      let job = QueueDatabase.job(maxAttempts: 1)
      try JobQueue.enqueue(job, session)
      try bury(claim(session), error: "it broke", session)
      var policy = Self.policy
      policy.minRevivalPause = .zero
      #expect(try JobQueue.revive(by: policy, session).isEmpty)
      // Its own loss does not count.
      let id = try session.execute("SELECT id FROM job_dead").single().get(0, as: Int64.self)
      try session.execute("INSERT INTO worker_loss (worker_id, job_id) VALUES (-1, $1)", .integer(id))
      #expect(try JobQueue.revive(by: policy, session).isEmpty)
      try session.execute("INSERT INTO worker_loss (worker_id) VALUES (-2)")
      #expect(try JobQueue.revive(by: Self.policy, session).isEmpty)
      #expect(try JobQueue.revive(by: policy, session) == [job.publicID: "media"])
      let again = try claim(session)
      #expect(again.attempt == 1)
      #expect(try isPostponed(session))
      // A day after its first death it is not revived any more.
      #expect(try !JobQueue.fail(again, error: "it broke", session))
      try session.execute("UPDATE job_dead SET postponed_at = clock_timestamp() - interval '25 hours'")
      #expect(try JobQueue.revive(by: policy, session).isEmpty)
      // A retry by an operator resets it.
      #expect(try JobQueue.retryNow(job.publicID, session))
      #expect(try !isPostponed(session))
    }
  }

  @Test("records of lost workers are removed after a day")
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

  /// Claims the available job and loses its worker.
  private func lose(_ session: Session, _ loss: Loss) throws {
    try session.execute("DELETE FROM worker_loss")
    let worker = try JobQueue.register(host: "here", process: 1, session)
    let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
    if loss != .beforeAnyStage { try report(loss == .inStageNotAtRisk ? "publish" : "compose", job, session) }
    switch loss {
    case .beforeAnyStage, .inStageNotAtRisk: break
    case .withAnotherJob:
      try enqueueOther("others", session)
      #expect(try JobQueue.claim(worker: worker, queue: "others", limit: 1, session).count == 1)
    case .withAnotherWorker:
      let other = try JobQueue.register(host: "here", process: 2, session)
      try enqueueOther("others", session)
      #expect(try JobQueue.claim(worker: other, queue: "others", limit: 1, session).count == 1)
    case .afterAnotherWorker:
      try session.execute("INSERT INTO worker_loss VALUES (-1, NULL, clock_timestamp() - interval '9 minutes')")
    case .afterDeregistration: try JobQueue.deregister(worker: worker, session)
    }
    try expireLeases(session)
    #expect(try JobQueue.reap(by: Self.policy, session).contains { $0.id == job.id })
    try session.execute("DELETE FROM job WHERE queue = 'others'")
  }

  /// Whether the only live job has the time of a postponement.
  private func isPostponed(_ session: Session) throws -> Bool {
    try session.execute("SELECT postponed_at IS NOT NULL FROM job").single().get(0)
  }

  private func enqueueOther(_ queue: String, _ session: Session) throws {
    var job = QueueDatabase.job()
    job.queue = queue
    try JobQueue.enqueue(job, session)
  }

  private func report(_ stage: String, _ job: ClaimedJob, _ session: Session) throws {
    try JobQueue.report(JobProgress(fraction: 0.5, stage: stage), of: job, session)
  }

  private func expireLeases(_ session: Session) throws {
    try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
  }
}
