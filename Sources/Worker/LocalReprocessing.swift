package import Blobs
package import Logging
package import MediaProcess
import Model
package import Platform
package import Postgres
import QueueWorker
package import Store

/// Processes the items of a local run in this process, with one media process for each slot.
package struct LocalReprocessing: Sendable {
  private static let maxInterruptions = 3

  private let slots: [any MediaRunner]
  private let pool: Pool
  private let store: Store
  private let blobs: any BlobStore
  private let log: Logger
  private let clock: any WorkerClock

  /// - Parameters:
  ///   - slots: the number of items at a time; one for each core has the highest throughput.
  ///   - pool: a pool with a connection for each slot.
  package init(
    slots: Int, media: MediaProcess.Configuration, pool: Pool, store: Store, blobs: any BlobStore, log: Logger
  ) throws {
    let slots = try (1...slots).map { number in try MediaProcess(name: "local-\(number)", configuration: media) }
    self.init(slots: slots, pool: pool, store: store, blobs: blobs, log: log, clock: ContinuousClock())
  }

  init(
    slots: [any MediaRunner], pool: Pool, store: Store, blobs: any BlobStore, log: Logger, clock: any WorkerClock
  ) {
    self.slots = slots
    self.pool = pool
    self.store = store
    self.blobs = blobs
    self.log = log
    self.clock = clock
  }

  /// Processes items until none waits, the run is paused or cancelled, or `stop` is raised; `stop` requeues the
  /// executing items.
  package func run(_ run: ReprocessRun, until stop: CancellationFlag) async throws {
    try await pool.transaction { [store] session in try store.resume(local: run, session) }
    // Attempts hash and write files with blocking calls.
    let executor = try ThreadExecutor(name: "local-run", threads: slots.count)
    defer { executor.stop() }
    let limiter = RateLimiter(rate: run.rate, clock: clock)
    try await withThrowingTaskGroup { group in
      for slot in slots {
        group.addTask(executorPreference: executor) {
          do {
            try await self.work(run, slot, limiter, stop)
          } catch {
            // The other slots stop too, instead of running the rest of the items before the error is reported.
            stop.cancel()
            throw error
          }
        }
      }
      try await group.waitForAll()
    }
    try await pool.transaction { [store] session in try store.complete(local: run, session) }
    try await store.collectReleased(pool)
  }

  private func work(
    _ run: ReprocessRun, _ slot: any MediaRunner, _ limiter: RateLimiter, _ stop: CancellationFlag
  ) async throws {
    while !stop.isCancelled {
      try await limiter.wait()
      guard let item = try await persist({ session in try store.claimItem(of: run, session) }) else { return }
      try await process(item, slot, stop)
    }
  }

  private func process(_ item: LocalItem, _ slot: any MediaRunner, _ stop: CancellationFlag) async throws {
    let start = ContinuousClock.now
    let work: Work
    do {
      guard let found = try await pool.run({ [store] session in try store.work(for: item, session) }) else { return }
      work = found
    } catch let error as StoreError {
      return try await end(item, .failed("\(error)"))
    }
    let attempt = Attempt(
      control: LocalControl(cancellation: stop), media: slot, mode: .throughput, blobs: blobs, log: log)
    var ending = await attempt.run(work)
    // Another process killed the media process; a few retries tell an accident from a permanent condition.
    for _ in 0..<Self.maxInterruptions {
      guard case .interrupted = ending else { break }
      ending = await attempt.run(work)
    }
    // One crash does not show that the media are the cause.
    while case .broken(_, let crash) = ending, try await count(crash, of: work) < Store.maxCrashes {
      ending = await attempt.run(work)
    }
    switch ending {
    case .accepted(_, let verdict, let outputs, let recipe):
      let seconds = start.duration(to: .now) / .seconds(1)
      do {
        try await persist(publishing: outputs) { session in
          try store.replace(
            outputs, of: work, recipe: recipe, job: item.job, verdict: verdict, seconds: seconds, session)
        }
      } catch let error as StoreError {
        try await end(item, .failed("\(error)"))
      }
    case .unchanged: try await end(item, .skipped)
    case .rejected(let work, let verdict):
      try await persist { session in try store.reject(work, itemOf: item.job, verdict: verdict, session) }
      log.warning("an item failed", ["subject": "\(item.subject)", "error": verdict.reasonText])
    case .broken(_, let crash): try await end(item, .failed(crash.description))
    case .damaged(let error, _): try await end(item, .failed(error.description))
    case .failed(let error): try await end(item, .failed(error))
    case .superseded(let ending): try await end(item, ending)
    case .stopped, .crowded: try await end(item, .requeued)
    // The items do not fail, because the run can be resumed.
    case .interrupted(_, let failure):
      try await end(item, .requeued)
      throw Outage(failure.description)
    case .unable(let outage):
      try await end(item, .requeued)
      throw outage
    }
  }

  private func count(_ crash: CrashFacts, of work: Work) async throws -> Int {
    try await persist { session in try store.countCrash(crash, of: work, session).crashes }
  }

  private func end(_ item: LocalItem, _ ending: Store.ItemEnding) async throws {
    let ended = try await persist { session in try store.end(itemOf: item.job, ending, session) }
    if case .failed(let error) = ending, ended {
      log.warning("an item failed", ["subject": "\(item.subject)", "error": error])
    }
  }

  /// Runs a transaction, and retries it during short outages of the database.
  private func persist<Result: Sendable>(
    publishing outputs: [NewAsset] = [], _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    var attempt = 1
    while true {
      do {
        return try await store.transaction(publishing: outputs, pool, timeout: .seconds(30), body)
      } catch let error as PostgresError where error.isTransient && attempt < 10 {
        attempt += 1
        try await clock.sleep(for: .milliseconds(200))
      }
    }
  }
}

/// The control of the attempts of a local run: only an interruption of the command stops them.
struct LocalControl: AttemptControl {
  let cancellation: CancellationFlag

  var stopReason: HeldJob.StopReason? { cancellation.isCancelled ? .drained : nil }

  func advance(to progress: JobProgress) {}

  func begin(stage: String) {}
}

/// Limits the rate at which tasks pass `wait()`.
final class RateLimiter: Sendable {
  private let interval: Duration
  private let clock: any WorkerClock
  private let next: Locked<ContinuousClock.Instant>

  /// - Parameter rate: calls per second; nil: no limit.
  init(rate: Double?, clock: any WorkerClock) {
    interval = rate.map { .seconds(1 / $0) } ?? .zero
    self.clock = clock
    next = Locked(clock.now)
  }

  /// Waits until the next call is permitted.
  func wait() async throws {
    let permitted = next.withLock { next in
      let permitted = max(next, clock.now)
      next = permitted + interval
      return permitted
    }
    if permitted > clock.now { try await clock.sleep(until: permitted, tolerance: nil) }
  }
}
