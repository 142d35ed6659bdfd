import Model
import Postgres
import Queue
import SeededRandom

/// The content of the database at the start of a cell, with which every failpoint is passed.
struct MatrixSetup {
  let run: ChaosRun

  /// The seed of the producer: the first with which some jobs are cancelled and some are absorbed.
  static let producerSeed: UInt64 =
    (0..<1000).first { seed in
      var random = SplitMix64(seed: seed)
      let jobs = (0..<producerJobs).map { _ in ChaosJob(of: PublicID(milliseconds: 0, random: &random)) }
      let keys = jobs.compactMap(\.uniqueKey)
      return Set(keys).count < keys.count && jobs.contains { $0.isCancelledAtOnce && $0.uniqueKey == nil }
    } ?? 0
  static let producerJobs = 60
  static let producerBatch = 20

  /// Enqueues jobs of every behaviour for a worker, and adds the jobs of a lost worker.
  func prepareForWorker(stops: Bool) async throws {
    try await addLostWorkers()
    var long = [ChaosJob](repeating: ChaosJob(ChaosJob.longQueue, milliseconds: 20), count: 3)
    long[1].limit = "pair"
    long[2].share = "shared"
    var unique = ChaosJob(ChaosJob.shortQueue)
    unique.uniqueKey = "unique"
    let short = [ChaosJob(ChaosJob.shortQueue), ChaosJob(ChaosJob.shortQueue), unique]
    let behaviours: [JobBehaviour] = [.failsOnce, .failsAlways, .rejects, .snoozesOnce, .cancelsItself]
    try await run.enqueue(
      long + behaviours.map { ChaosJob(ChaosJob.longQueue, $0, milliseconds: 700) }
        + short + behaviours.map { ChaosJob(ChaosJob.shortQueue, $0) })
    guard stops else { return }
    var last = ChaosJob(ChaosJob.longQueue, .stopsWorker)
    last.priority = 9
    try await run.enqueue([last])
  }

  /// Adds dead, scheduled and executing jobs for the operator of a producer.
  func prepareForProducer() async throws {
    var running = ChaosJob(ChaosJob.longQueue)
    running.isCancellable = true
    var later = ChaosJob(ChaosJob.longQueue)
    later.isDelayed = true
    try await run.enqueue([running, ChaosJob(ChaosJob.longQueue), later])
    try await run.pool.run { session in
      let lost = try JobQueue.register(host: "lost", process: 0, leaseSeconds: 2, session)
      for job in try JobQueue.claim(worker: lost, queue: ChaosJob.longQueue, limit: 2, session) {
        guard try !ChaosJob(job).isCancellable else { continue }
        try session.execute("UPDATE job SET attempt = max_attempts WHERE id = \(job.id)")
        _ = try JobQueue.fail(job, error: ChaosJob.error, session)
      }
    }
  }

  // Adds long and short jobs of a lost worker, of which one each is being cancelled, another lost worker without jobs,
  // and an expired and a missing partition of the history.
  private func addLostWorkers() async throws {
    try await run.enqueue(
      [ChaosJob](repeating: ChaosJob(ChaosJob.longQueue), count: 2)
        + [ChaosJob](repeating: ChaosJob(ChaosJob.shortQueue), count: 3))
    try await run.pool.run { session in
      let lost = try JobQueue.register(host: "lost", process: 0, leaseSeconds: 0.05, session)
      let long = try JobQueue.claim(worker: lost, queue: ChaosJob.longQueue, limit: 2, session)
      let short = try JobQueue.claim(worker: lost, queue: ChaosJob.shortQueue, limit: 3, session)
      for job in [long.first, short.first] {
        if let job { _ = try session.transaction { session in try JobQueue.cancel(job.publicID, session) } }
      }
      _ = try JobQueue.register(host: "lost", process: 0, leaseSeconds: 0.01, session)
      try session.execute(ChaosSchema.statements["age_history"])
    }
  }
}
