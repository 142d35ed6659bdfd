import Model
import Postgres
import PostgresTesting
import SeededRandom
import Testing

@testable import Queue

@Suite("The queue and its state machine", .tags(.database))
struct ModelTests {
  @Test("random events lead both to the same states", arguments: UInt64(1)...12)
  func agree(_ seed: UInt64) async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run { session in
        let model = try QueueModel(seed: seed, session)
        for _ in 0..<150 { try model.step() }
      }
      await pool.close()
    }
  }

  @Test("an ended job does not change, except that a dead one may be retried")
  func ends() throws {
    var life = JobLife(maxAttempts: 1)
    life = try #require(life.after(.claimed))
    let completed = try #require(life.after(.completed))
    for event in JobLife.Event.allCases { #expect(completed.after(event) == nil) }
    let dead = try #require(life.after(.buried))
    #expect(dead.after(.retriedNow)?.jobState == .available)
    #expect(JobLife.Event.allCases.filter { dead.after($0) != nil } == [.retriedNow])
  }

  @Test("a job that is blamed repeatedly is dead, even with attempts left")
  func poison() throws {
    var life = JobLife(maxAttempts: 99)
    for _ in 0..<FaultPolicy().maxBlamed {
      if life.state == .scheduled { life = try #require(life.after(.due)) }
      life = try #require(life.after(.claimed)?.after(.blamed))
    }
    #expect(life.state == .dead)
  }
}

/// A queue and the state machines of its jobs, which go through the same random events.
final class QueueModel {
  /// The end of an attempt by its holder.
  private enum Ending {
    case completed(Completion, result: [UInt8]?)
    case failed
    case snoozed(seconds: Double)
    case postponed
    case released
  }

  private let session: Session
  private var random: SplitMix64
  private var lives: [PublicID: JobLife] = [:]
  private var held: [ClaimedJob] = []
  private var stale: [ClaimedJob] = []
  private var worker: Int64
  private(set) var log: [String] = []

  init(seed: UInt64, _ session: Session) throws {
    self.session = session
    random = SplitMix64(seed: seed)
    worker = try JobQueue.register(host: "model", process: 1, session)
  }

  /// Performs one random event and compares both.
  func step() throws {
    switch Int.random(in: 0..<13, using: &random) {
    case 0, 1: try enqueue()
    case 2, 3: try claim()
    case 4, 5, 6: try end()
    case 7: try promote()
    case 8: try cancel()
    case 9: try retryNow()
    case 10: try loseWorker()
    case 11: try loseWorkerAlone()
    default: try writeWithStaleToken()
    }
    try compare()
  }

  private func compare() throws {
    let found = try JobQueue.find(Array(lives.keys), session)
    #expect(found.count == lives.count, "a job is lost or duplicated: \(log.suffix(20))")
    for record in found {
      guard let life = lives[record.publicID] else { continue }
      #expect(record.state == life.jobState, "\(record.publicID): \(log.suffix(20))")
      #expect(record.attempt == life.attempt, "\(record.publicID): \(log.suffix(20))")
      #expect(record.lost == life.lost, "\(record.publicID): \(log.suffix(20))")
    }
  }

  // MARK: Events

  private func enqueue() throws {
    var job = QueueDatabase.job(maxAttempts: Int.random(in: 1...3, using: &random))
    let isScheduled = chance(4)
    if isScheduled { job.delay = 3600 }
    if chance(3) { job.limit = JobLimit(name: "some", max: 2) }
    log.append("enqueue \(job.publicID) limited \(job.limit != nil)")
    if chance(2) {
      #expect(try JobQueue.enqueue([job], session).isEmpty)
    } else {
      #expect(try JobQueue.enqueue(job, session) != nil)
    }
    lives[job.publicID] = JobLife(
      maxAttempts: job.maxAttempts, isScheduled: isScheduled, isLimited: job.limit != nil)
  }

  private func claim() throws {
    let limit = Int.random(in: 1...3, using: &random)
    let available = count(.available)
    let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: limit, session)
    #expect(claimed.count == min(limit, available))
    for job in claimed {
      apply(.claimed, to: job.publicID)
      held.append(job)
    }
  }

  private func end() throws {
    guard let index = held.indices.randomElement(using: &random) else { return }
    let job = held.remove(at: index)
    let (event, ending) = ending(of: job)
    do {
      try write(ending, for: job)
    } catch is LeaseLost {
      #expect(lives[job.publicID]?.isToBeCancelled == true)
      try JobQueue.complete(job, .cancelled, result: nil, session)
    }
    apply(event, to: job.publicID)
    stale.append(job)
  }

  private func promote() throws {
    try session.execute("UPDATE job SET run_at = clock_timestamp() WHERE state = 's'")
    log.append("promote")
    _ = try JobQueue.promote(session)
    for id in lives.keys where lives[id]?.state == .scheduled { apply(.due, to: id) }
    let granted = try grantAll(session)
    let throttled = lives.filter { $0.value.state == .throttled }
    let busy = lives.count { $0.value.isLimited && ($0.value.state == .available || $0.value.state == .executing) }
    #expect(granted == min(throttled.count, max(0, 2 - busy)))
    // The statement chooses which jobs are granted.
    for row in try session.execute("SELECT public_id FROM job WHERE state = 'a'") {
      let id = try row.publicID("public_id")
      if lives[id]?.state == .throttled { apply(.granted, to: id) }
    }
  }

  private func cancel() throws {
    guard let id = lives.keys.sorted().randomElement(using: &random), let life = lives[id] else { return }
    let expected: CancelOutcome =
      switch life.state {
      case .executing: .requested
      case .completed, .cancelled, .dead: .notLive
      default: .cancelled
      }
    #expect(try JobQueue.cancel(id, session) == expected)
    if expected != .notLive { apply(.cancelled, to: id) }
  }

  private func retryNow() throws {
    guard let id = lives.keys.sorted().randomElement(using: &random), let life = lives[id] else { return }
    let isDone = try JobQueue.retryNow(id, session)
    #expect(isDone == (life.state == .dead || life.state == .scheduled))
    if isDone { apply(.retriedNow, to: id) }
  }

  /// The lease of the worker expires within the loss window of another one.
  private func loseWorker() throws {
    log.append("lose the worker")
    try session.execute("INSERT INTO worker_loss (worker_id) VALUES (-1) ON CONFLICT DO NOTHING")
    try loseWorker(.lost)
  }

  /// The lease of the worker expires outside of a loss window: its only job is blamed if it is in a stage at risk.
  private func loseWorkerAlone() throws {
    log.append("lose the worker alone")
    try session.execute("DELETE FROM worker_loss")
    var isBlamed = held.count == 1
    if let job = held.first {
      isBlamed = isBlamed && chance(2)
      let stage = isBlamed ? "risky" : "safe"
      try JobQueue.report(JobProgress(fraction: 0.5, stage: stage), of: job, session)
    }
    try loseWorker(isBlamed ? .blamed : .lost)
  }

  private func loseWorker(_ event: JobLife.Event) throws {
    try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
    let expected = Set(held.map(\.publicID))
    var policy = FaultPolicy()
    policy.stagesAtRisk = ["risky"]
    let reaped = try JobQueue.reap(by: policy, session)
    #expect(Set(reaped.map(\.publicID)) == expected)
    for job in reaped {
      apply(event, to: job.publicID)
      #expect(lives[job.publicID]?.jobState == job.state)
    }
    stale += held
    held = []
    worker = try JobQueue.register(host: "model", process: 1, session)
  }

  /// A former holder writes for its job, which fails.
  private func writeWithStaleToken() throws {
    guard let job = stale.randomElement(using: &random) else { return }
    log.append("stale \(job.publicID)")
    #expect(throws: LeaseLost.self) { try write(ending(of: job).1, for: job) }
  }

  // MARK: Support

  private func ending(of job: ClaimedJob) -> (JobLife.Event, Ending) {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: (job.attempt < job.maxAttempts ? .retried : .buried, .failed)
    case 1: (.snoozed, .snoozed(seconds: 3600))
    case 2: (.postponed, .postponed)
    case 3: (.released, .released)
    default: (.completed, .completed(.rejected, result: Array("{}".utf8)))
    }
  }

  private func write(_ ending: Ending, for job: ClaimedJob) throws {
    switch ending {
    case .completed(let completion, let result): try JobQueue.complete(job, completion, result: result, session)
    case .failed:
      let runsAgain = try JobQueue.fail(job, error: "failed", session)
      #expect(runsAgain == (job.attempt < job.maxAttempts))
    case .snoozed(let seconds): try JobQueue.snooze(job, seconds: seconds, session)
    case .postponed:
      let runsAgain = try JobQueue.postpone(job, error: "an outage", session)
      #expect(runsAgain)
    case .released: try JobQueue.release(job, session)
    }
  }

  private func apply(_ event: JobLife.Event, to id: PublicID) {
    log.append("\(event) \(id)")
    guard let next = lives[id]?.after(event) else {
      Issue.record("\(event) cannot happen to \(lives[id].map { "\($0)" } ?? "nothing"): \(log.suffix(20))")
      return
    }
    lives[id] = next
  }

  private func count(_ state: JobLife.State) -> Int { lives.count { $0.value.state == state } }

  private func chance(_ among: Int) -> Bool { Int.random(in: 0..<among, using: &random) == 0 }
}
