import Model
import Postgres
import Queue

/// What lies in the database before anybody works: something for every act.
struct MatrixScene {
  let run: ChaosRun

  /// The seed of the producer: the first under which some of its jobs are withdrawn and some absorbed.
  static let producerSeed: UInt64 =
    (0..<1000).first { seed in
      var random = SplitMix64(seed: seed)
      let jobs = (0..<producerJobs).map { _ in ChaosJob(of: PublicID(milliseconds: 0, random: &random)) }
      let keys = jobs.compactMap(\.uniqueKey)
      return Set(keys).count < keys.count && jobs.contains { $0.isWithdrawn && $0.uniqueKey == nil }
    } ?? 0
  static let producerJobs = 60
  static let producerBatch = 20

  /// For a worker: jobs of every behaviour, and what a lost worker left behind.
  func prepareForWorker(drains: Bool) async throws {
    try await leaveBehind()
    var long = [ChaosJob](repeating: ChaosJob(ChaosJob.longQueue, milliseconds: 20), count: 3)
    long[1].limit = "pair"
    long[2].share = "crowd"
    var kept = ChaosJob(ChaosJob.shortQueue)
    kept.uniqueKey = "the only one"
    let short = [ChaosJob(ChaosJob.shortQueue), ChaosJob(ChaosJob.shortQueue), kept]
    let behaviours: [JobBehaviour] = [.fails, .breaks, .refuses, .snoozes, .cancelsItself]
    try await run.enqueue(
      long + behaviours.map { ChaosJob(ChaosJob.longQueue, $0, milliseconds: 700) }
        + short + behaviours.map { ChaosJob(ChaosJob.shortQueue, $0) })
    guard drains else { return }
    var last = ChaosJob(ChaosJob.longQueue, .drains)
    last.priority = 9
    try await run.enqueue([last])
  }

  /// For a producer: jobs that its operator finds dead, scheduled and executing.
  func prepareForProducer() async throws {
    var running = ChaosJob(ChaosJob.longQueue)
    running.isCancellable = true
    var later = ChaosJob(ChaosJob.longQueue)
    later.isPutOff = true
    try await run.enqueue([running, ChaosJob(ChaosJob.longQueue), later])
    try await run.pool.run { session in
      let ghost = try JobQueue.register(host: "ghost", process: 0, leaseSeconds: 2, session)
      for job in try JobQueue.claim(worker: ghost, queue: ChaosJob.longQueue, limit: 2, session) {
        if try !ChaosJob(job).isCancellable { try JobQueue.bury(job, error: "it was meant to fail", session) }
      }
    }
  }

  // Long jobs and short ones whose worker is gone, one of each to be cancelled; a worker's row that nobody needs; a day
  // of history that is to be dropped, and one that is missing.
  private func leaveBehind() async throws {
    try await run.enqueue(
      [ChaosJob](repeating: ChaosJob(ChaosJob.longQueue), count: 2)
        + [ChaosJob](repeating: ChaosJob(ChaosJob.shortQueue), count: 3))
    try await run.pool.run { session in
      let ghost = try JobQueue.register(host: "ghost", process: 0, leaseSeconds: 0.05, session)
      let long = try JobQueue.claim(worker: ghost, queue: ChaosJob.longQueue, limit: 2, session)
      let short = try JobQueue.claim(worker: ghost, queue: ChaosJob.shortQueue, limit: 3, session)
      for job in [long.first, short.first] {
        if let job { _ = try session.transaction { session in try JobQueue.cancel(job.publicID, session) } }
      }
      _ = try JobQueue.register(host: "ghost", process: 0, leaseSeconds: 0.01, session)
      try session.execute(ChaosSchema.statements["age_history"])
      try JobQueue.set(
        cron: CronEntry(
          name: "due", schedule: "0 0 1 1 *", queue: ChaosJob.shortQueue, kind: "cron",
          arguments: JSON.encode(ChaosJob(ChaosJob.shortQueue))), session)
      try session.execute(ChaosSchema.statements["hurry_cron"])
    }
  }
}
