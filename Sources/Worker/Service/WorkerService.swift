package import Blobs
import Glibc
package import Logging
import MediaProcess
package import Metrics
import Model
import Platform
package import Postgres
import Queue
package import Store

/// Takes jobs from the queue and carries them out, as many at a time as it has slots.
///
/// Beside the jobs go signs of life on a connection of their own, the care for what others left behind, and an ear for
/// new jobs. Any number of workers share one queue.
package final class WorkerService: Sendable {
  private let configuration: WorkerConfiguration
  private let database: DatabaseURL
  private let pool: Pool
  private let store: Store
  private let blobs: any BlobStore
  private let log: Logger
  private let metrics: WorkMetrics
  private let held = HeldJobs()
  private let wake = WakeUp()
  private let stopping = CancellationFlag()
  private let isEvicted = CancellationFlag()

  /// - Parameters:
  ///   - database: for the connections of its own: signs of life, and listening.
  ///   - pool: for everything else.
  ///   - metrics: what is done is counted there.
  package init(
    configuration: WorkerConfiguration, database: DatabaseURL, pool: Pool, store: Store, blobs: any BlobStore,
    log: Logger, metrics: Metrics
  ) {
    self.configuration = configuration
    self.database = database
    self.pool = pool
    self.store = store
    self.blobs = blobs
    self.log = log
    self.metrics = WorkMetrics(metrics)
  }

  /// Asks it to end: `run()` takes no new job and returns after the drain.
  package func stop() {
    stopping.cancel()
    wake.raise()
  }

  /// Works until `stop()`, or until it was taken for dead: then it must be made anew, under a new id.
  package func run() async throws {
    let worker = try await register()
    do {
      try await run(as: worker, log: log.with(["worker": "\(worker)"]))
    } catch {
      await deregister(worker)
      throw error
    }
    await deregister(worker)
  }

  private func run(as worker: Int64, log: Logger) async throws {
    log.info("worker started", ["slots": "\(configuration.slots)"])
    let heart = try Heart(
      worker: worker, configuration: configuration, database: database, held: held, log: log
    ) { [isEvicted, wake] in
      isEvicted.cancel()
      wake.raise()
    }
    let maintenance = Maintenance(configuration: configuration, pool: pool, store: store, wake: wake, log: log)
    var slots: [MediaSlot] = []
    for number in 1...configuration.slots {
      slots.append(try MediaSlot(name: "media-\(number)", configuration: configuration.media))
    }
    // Hashing and waiting for the disk block: they have threads of their own, one for each job.
    let executor = try ThreadExecutor(name: "worker-job", threads: configuration.slots)
    defer { executor.stop() }
    let listener = try Listener(database, channels: [QueueChannel.jobs]) { [wake] _ in wake.raise() }
    try listener.start()

    await withTaskGroup { group in
      group.addTask { await heart.run() }
      group.addTask { await maintenance.run() }
      group.addTask { await self.reportProgress() }
      await self.takeJobs(worker, heart: heart, slots: slots, on: executor, log: log)
      group.cancelAll()
    }
    for slot in slots { await slot.stop() }
    try await onThread("listener-stop") { listener.stop() }
    log.info("worker ended")
  }

  private func register() async throws -> Int64 {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let lease = configuration.lease / .seconds(1)
    return try await pool.run { session in
      try JobQueue.register(host: host, process: getpid(), leaseSeconds: lease, session)
    }
  }

  // A row that stays behind is swept once its lease is long over.
  private func deregister(_ worker: Int64) async {
    try? await pool.run { session in try JobQueue.deregister(worker: worker, session) }
  }

  /// Claims a job for each free slot, whenever there may be one; long jobs are never claimed ahead.
  private func takeJobs(
    _ worker: Int64, heart: Heart, slots: [MediaSlot], on executor: ThreadExecutor, log: Logger
  ) async {
    let free = FreeSlots(slots)
    await withDiscardingTaskGroup { group in
      while !stopping.isCancelled && !isEvicted.isCancelled {
        let count = heart.isSilent ? 0 : free.count
        for job in count > 0 ? await claim(worker, count, log) : [] {
          guard let slot = free.take() else { break }
          group.addTask(executorPreference: executor) {
            await self.carryOut(job, slot, log)
            free.add(slot)
            self.wake.raise()
          }
        }
        await wake.wait(atMost: configuration.pollInterval)
      }
      await drain(log)
    }
  }

  private func claim(_ worker: Int64, _ count: Int, _ log: Logger) async -> [HeldJob] {
    var claimed: [HeldJob] = []
    do {
      for queue in configuration.queues where claimed.count < count {
        let room = count - claimed.count
        let jobs = try await pool.run { session in
          try JobQueue.claim(worker: worker, queue: queue, limit: room, session)
        }
        claimed += jobs.map { HeldJob($0, metrics: metrics) }
      }
    } catch {
      log.warning("no job could be claimed", ["error": "\(error)"])
    }
    for job in claimed { held.add(job) }
    return claimed
  }

  private func carryOut(_ held: HeldJob, _ slot: MediaSlot, _ log: Logger) async {
    let job = held.job
    let log = log.with([
      "job": job.publicID.description, "request": job.request, "attempt": "\(job.attempt)",
    ])
    log.info("job started", ["kind": job.kind])
    defer { self.held.remove(held) }
    let record = AttemptRecord(held: held, pool: pool, store: store, log: log)
    let work: Work
    do {
      work = try await pool.run { [store] session in try store.work(for: job, session) }
    } catch {
      return await record.write(.failed("\(error)"), of: nil)
    }
    let attempt = Attempt(held: held, slot: slot, mode: executionMode, blobs: blobs, log: log)
    let ending = await attempt.run(work)
    held.endStage()
    await record.write(ending, of: work)
  }

  /// A job that has the worker for itself is spread over its cores; of several, each has one.
  private var executionMode: ExecutionMode { configuration.slots > 1 && held.all.count == 1 ? .latency : .throughput }

  /// Lets running jobs end for a while; what still runs then is stopped and given back.
  private func drain(_ log: Logger) async {
    guard !held.all.isEmpty else { return }
    log.info("waiting for running jobs", ["jobs": "\(held.all.count)"])
    let clock = ContinuousClock()
    let end = clock.now + configuration.drain
    while !held.all.isEmpty && clock.now < end {
      await wake.wait(atMost: min(configuration.pollInterval, clock.now.duration(to: end)))
    }
    held.stopAll(.drained)
  }

  /// Writes down how far the jobs have come, at most twice a second.
  private func reportProgress() async {
    while !Task.isCancelled {
      for held in held.all {
        guard let progress = held.takeProgress() else { continue }
        try? await pool.run { session in try JobQueue.report(progress, of: held.job, session) }
      }
      try? await Task.sleep(for: .milliseconds(500))
    }
  }
}
