internal import Logging
internal import Metrics
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import QueueWorker

/// Our own worker, as `take5 worker` runs one: with its lease, its signs of life and its maintenance.
struct QueueConsumer: Sendable {
  let database: DatabaseURL
  let settings: QueueSettings

  /// Carries out so many jobs, and tells how long that took until all were committed.
  func drain(_ count: Int) async throws {
    let ran = Locked(0)
    let begin = MonotonicTime.now
    try await work { _, finish in
      let isLast = ran.withLock { ran in
        ran += 1
        return ran == count
      }
      if isLast { finish() }
    }
    try QueueProcess.tell(
      QueueAnswer(jobs: ran.withLock { $0 }, seconds: MonotonicTime.now - begin))
  }

  /// Carries out so many jobs that say when they were sent, and tells how long each was on its way.
  func wait(for count: Int) async throws {
    let arrivals = Locked([Int: Double]())
    try await work { job, finish in
      let now = MonotonicTime.now
      let arrival = try JSON.decode(QueueArrival.self, from: job.arguments)
      guard arrival.index >= 0 else { return try QueueProcess.tell(QueueAnswer(ready: true)) }
      let isLast = arrivals.withLock { arrivals in
        arrivals[arrival.index] = (now - MonotonicTime(nanoseconds: arrival.sent)) * 1000
        return arrivals.count == count
      }
      if isLast { finish() }
    }
    let latencies = arrivals.withLock { arrivals in arrivals.sorted { $0.key < $1.key }.map(\.value) }
    try QueueProcess.tell(QueueAnswer(latencies: latencies))
  }

  /// Works until a job says that it is the last one, and returns once that is committed.
  private func work(_ carryOut: @escaping @Sendable (ClaimedJob, _ finish: () -> Void) throws -> Void) async throws {
    let current = Locked<QueueWorker?>(nil)
    let pool = Pool(database, size: settings.slots + 1)
    let handler = QueueHandler(pool: pool) { job in
      // It is given its worker before that takes a job.
      try carryOut(job) { current.withLock { $0 }?.stop() }
    }
    let worker = QueueWorker(
      configuration: QueueWorkerConfiguration(), database: database, pool: pool,
      consumers: [ConsumerConfiguration(queue: QueueProcess.queue, slots: settings.slots, handler: handler)],
      log: Logger(lowest: .warning), metrics: Metrics())
    current.withLock { $0 = worker }
    try await worker.run()
    current.withLock { $0 = nil }
    await pool.close()
  }
}

/// Handles jobs by a closure, and completes them.
private struct QueueHandler: JobHandler {
  let pool: Pool
  let body: @Sendable (ClaimedJob) throws -> Void

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    do {
      try body(held.job)
      try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
    } catch {
      log.error("a job of the benchmark failed", ["error": "\(error)"])
    }
    return .healthy
  }
}
