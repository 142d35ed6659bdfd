import Glibc
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Telemetry

/// A worker of take5 with lease, heartbeat and maintenance, as `take5 worker` runs it.
struct QueueConsumer: Sendable {
  let database: DatabaseURL
  let settings: QueueSettings

  /// Performs `count` jobs and reports the time until all are committed.
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
    try QueueProcess.report(QueueReply(jobs: ran.withLock { $0 }, seconds: MonotonicTime.now - begin))
  }

  /// Performs `count` jobs that contain the time of their call, and reports their latencies.
  func wait(for count: Int) async throws {
    let arrivals = Locked([Int: Double]())
    try await work { job, finish in
      let now = MonotonicTime.now
      let arrival = try JSON.decode(QueueArrival.self, from: job.arguments)
      guard arrival.index >= 0 else { return try QueueProcess.report(QueueReply(ready: true)) }
      let isLast = arrivals.withLock { arrivals in
        arrivals[arrival.index] = (now - MonotonicTime(nanoseconds: arrival.sent)) * 1000
        return arrivals.count == count
      }
      if isLast { finish() }
    }
    let latencies = arrivals.withLock { arrivals in arrivals.sorted { $0.key < $1.key }.map(\.value) }
    try QueueProcess.report(QueueReply(latencies: latencies))
  }

  /// Runs a worker until a job calls `finish`, and returns once that job is committed.
  private func work(_ perform: @escaping @Sendable (ClaimedJob, _ finish: () -> Void) throws -> Void) async throws {
    let current = Locked<QueueWorker?>(nil)
    let pool = Pool(database, size: settings.slots + 1)
    let handler = QueueHandler(pool: pool) { job in
      // `current` is set before the worker claims a job.
      try perform(job) { current.withLock { $0 }?.stop() }
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

/// Performs jobs with a closure and completes them.
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

/// The arguments of a job whose latency is measured.
struct QueueArrival: Codable, Sendable {
  /// -1 for the job that shows that the worker is ready.
  let index: Int
  /// The start of the call that enqueues the job, in nanoseconds of `CLOCK_MONOTONIC`.
  let sent: Int64
}

/// Times take5's claims with the same number of waiting jobs before each.
struct QueueClaims {
  private let size: Int
  private let session: Session

  /// - Parameter size: the number of jobs of one claim.
  init(size: Int, _ session: Session) {
    self.size = size
    self.session = session
  }

  /// Claims `count` times and reports the time of each claim, in milliseconds.
  func run(_ count: Int) throws {
    let worker = try JobQueue.register(host: "bench", process: getpid(), session)
    var times: [Double] = []
    for _ in 0..<count {
      let begin = MonotonicTime.now
      let jobs = try JobQueue.claim(worker: worker, queue: QueueProcess.queue, limit: size, session)
      times.append((MonotonicTime.now - begin) * 1000)
      guard jobs.count == size else { throw BenchError("a claim returned too few jobs", status: EX_DATAERR) }
      try session.transaction { session in
        for job in jobs { try JobQueue.complete(job, .accepted, result: nil, session) }
      }
      try JobQueue.enqueue((0..<size).map { _ in .ofBench() }, session)
    }
    try JobQueue.deregister(worker: worker, session)
    try QueueProcess.report(QueueReply(latencies: times))
  }
}

extension NewJob {
  private static let definition = [UInt8](repeating: 0xA5, count: 32)
  /// The number of authors that submit jobs.
  private static let authors = 1000

  /// Returns a job without a fair share, with an author, a definition's hash and a request as the service's jobs have.
  static func ofBench() -> NewJob {
    NewJob(
      publicID: .now(), queue: QueueProcess.queue, kind: "noop", deadlineSeconds: 60, author: "bench",
      definition: definition, request: JobRequest(id: "bench"), arguments: Array("{}".utf8))
  }

  /// Returns a job as of a submission, with the fair share of its author.
  static func ofBench(author number: Int, arguments: [UInt8] = Array("{}".utf8)) -> NewJob {
    var job = ofBench()
    let author = "author-\(max(0, number) % authors)"
    job.author = author
    job.share = JobShare(name: "author:" + author)
    job.arguments = arguments
    return job
  }
}
