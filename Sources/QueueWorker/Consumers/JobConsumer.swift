import Logging
import Model
import Platform
import Postgres
import Queue

/// A queue that a worker consumes.
package struct ConsumerConfiguration: Sendable {
  let queue: String
  /// The jobs that the worker handles at a time; it never claims a job without a free slot.
  let slots: Int
  let handler: any JobHandler

  package init(queue: String, slots: Int, handler: any JobHandler) {
    self.queue = queue
    self.slots = slots
    self.handler = handler
  }
}

/// What the consumers of one worker share.
struct WorkerContext: Sendable {
  let worker: Int64
  let configuration: QueueWorkerConfiguration
  let pool: Pool
  let heartbeat: Heartbeat
  /// Raised when the worker is asked to end.
  let stopping: CancellationFlag
  /// Raised when the worker has lost its lease.
  let isEvicted: CancellationFlag
  let held: HeldJobs
  let metrics: WorkerMetrics
  let log: Logger

  /// Whether consumers may claim more jobs.
  var mayClaim: Bool { !stopping.isCancelled && !isEvicted.isCancelled }
}

/// Claims the jobs of one queue, one for each free slot, and runs the queue's handler on them.
final class JobConsumer: Sendable {
  let queue: String
  let slots: Int
  let handler: any JobHandler
  let context: WorkerContext
  /// Wakes the loop: a job may be available, a slot is free, or the worker ends.
  let wake = WakeUp()
  /// Claims whose replies were lost: the jobs may be this worker's all the same.
  private let unacknowledged: UnacknowledgedClaims
  private let breaker = Locked(CircuitBreaker())
  private let start = ContinuousClock.now

  init(
    _ configuration: ConsumerConfiguration, context: WorkerContext,
    unacknowledged: UnacknowledgedClaims = UnacknowledgedClaims()
  ) {
    queue = configuration.queue
    slots = configuration.slots
    handler = configuration.handler
    self.context = context
    self.unacknowledged = unacknowledged
  }

  /// Consumes until the worker stops, and returns once every job that it started has ended.
  func run() async throws {
    // Hashing and waiting for the disk block a thread: each slot has one of its own.
    let executor = try ThreadExecutor(name: "worker-job", threads: slots)
    defer { executor.stop() }
    await withDiscardingTaskGroup { group in
      while context.mayClaim {
        for job in context.heartbeat.isOverdue ? [] : await claim(free) {
          group.addTask(executorPreference: executor) {
            await self.handle(job)
            self.wake.raise()
          }
        }
        await wake.wait(atMost: context.configuration.pollInterval)
      }
      await drain()
    }
  }

  /// The jobs of this queue that the worker holds.
  private var held: [HeldJob] { context.held.all.filter { $0.job.queue == queue } }

  /// The number of jobs that may start now.
  private var free: Int {
    guard handler.takesMore else { return 0 }
    return max(0, breaker.withLock { $0.permits(of: slots, at: start.duration(to: .now)) } - held.count)
  }

  private func claim(_ free: Int) async -> [HeldJob] {
    let lost = unacknowledged.due()
    guard free > 0 || !lost.isEmpty else { return [] }
    do {
      let (jobs, leases) = try await context.pool.run { session in
        var leases: [Lease] = []
        var jobs = lost.isEmpty ? [] : try recover(lost, free, &leases, session)
        jobs += try claim(free - jobs.count, &leases, session)
        if jobs.count < free, try JobQueue.grant(session) > 0 {
          jobs += try claim(free - jobs.count, &leases, session)
        }
        return (jobs, leases)
      }
      context.metrics.claimed(jobs)
      let claimed = jobs.map { HeldJob($0, metrics: context.metrics) }
      for job in claimed { context.held.add(job) }
      unacknowledged.remove(leases)
      return claimed
    } catch {
      context.log.warning("no job could be claimed", ["queue": queue, "error": "\(error)"])
      return []
    }
  }

  // A claim that fails from here on is looked up by its lease later.
  private func claim(
    _ count: Int, _ acknowledged: inout [Lease], _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    guard count > 0 else { return [] }
    let lease = unacknowledged.add()
    do {
      let jobs = try JobQueue.claim(worker: context.worker, queue: queue, limit: count, lease: lease, session)
      acknowledged.append(lease)
      return jobs
    } catch {
      // The server refused the statement: it claimed nothing.
      if error.kind == .server { unacknowledged.remove([lease]) }
      throw error
    }
  }

  /// Looks up what lost claims gave this worker, and releases what no slot is free for.
  private func recover(
    _ leases: [Lease], _ free: Int, _ acknowledged: inout [Lease], _ session: Session
  ) throws -> [ClaimedJob] {
    let found = try JobQueue.claimed(worker: context.worker, leases: leases, session)
      .filter { context.held[$0.token] == nil }
    var waiting: [ClaimedJob] = []
    for job in found.dropFirst(free) {
      // A job with a pending cancellation cannot be released: it waits for a slot, whose handler ends it.
      do { try JobQueue.release(job, session) } catch is LeaseLost { waiting.append(job) }
    }
    acknowledged += leases.filter { lease in
      found.contains { $0.isHeld(under: lease) } && !waiting.contains { $0.isHeld(under: lease) }
    }
    return Array(found.prefix(free))
  }

  private func handle(_ job: HeldJob) async {
    defer { context.held.remove(job) }
    let log = context.log.with([
      "job": job.job.publicID.description, "request": job.job.request, "attempt": "\(job.job.attempt)",
    ])
    log.info("job started", ["kind": job.job.kind])
    let start = ContinuousClock.now
    let health = await handler.handle(job, isAlone: held.count == 1, log: log)
    context.metrics.took(start.duration(to: .now) / .seconds(1), kind: job.job.kind)
    note(health)
  }

  /// Pauses the queue during an outage, and resumes it afterwards.
  private func note(_ health: ServiceHealth) {
    let outage: Outage
    switch health {
    case .unknown: return
    case .healthy:
      guard breaker.withLock({ $0.succeeded() }) else { return }
      context.metrics.pause(queue, false)
      return context.log.info("the queue resumes", ["queue": queue])
    case .outage(let found): outage = found
    }
    guard let pause = breaker.withLock({ $0.failed(at: start.duration(to: .now)) }) else { return }
    context.metrics.pause(queue, true)
    context.log.error(
      "the queue is paused: this worker cannot serve it",
      ["queue": queue, "error": outage.description, "seconds": "\(Int(pause / .seconds(1)))"])
  }

  /// Waits for running jobs, then stops those that still run; their handlers release them.
  private func drain() async {
    guard !held.isEmpty else { return }
    context.log.info("waiting for running jobs", ["jobs": "\(held.count)"])
    let clock = ContinuousClock()
    let end = clock.now + context.configuration.drain
    while !held.isEmpty && clock.now < end {
      await wake.wait(atMost: min(context.configuration.pollInterval, clock.now.duration(to: end)))
    }
    for job in held { job.stop(.drained) }
  }
}
