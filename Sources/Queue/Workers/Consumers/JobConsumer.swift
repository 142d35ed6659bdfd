import Model
import Platform
import Postgres
import Telemetry

/// A queue that a worker consumes.
package struct ConsumerConfiguration: Sendable {
  let queue: String
  /// The jobs that the worker handles at a time; it never claims a job without a free slot.
  let slots: Int
  let handler: any JobHandler
  /// Whether a claim may leave out jobs that have limits, or that are locked for a head start, so that a claim of too few asks for them.
  let mayLeaveJobs: Bool

  package init(queue: String, slots: Int, handler: any JobHandler, mayLeaveJobs: Bool = true) {
    self.queue = queue
    self.slots = slots
    self.handler = handler
    self.mayLeaveJobs = mayLeaveJobs
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
  let polling: Polling
  let metrics: WorkerMetrics
  let log: Logger
  /// Nil: attempts are not traced.
  var tracer: Tracer?

  /// Whether consumers may claim more jobs.
  var mayClaim: Bool { !stopping.isCancelled && !isEvicted.isCancelled }
}

/// Claims the jobs of one queue, one for each free slot, and runs the queue's handler on them.
final class JobConsumer: Sendable {
  let queue: String
  let slots: Int
  let handler: any JobHandler
  private let mayLeaveJobs: Bool
  let context: WorkerContext
  /// Wakes the loop: a job may be available, a slot is free, or the worker ends.
  let wake = WakeUp()
  /// Claims whose replies were lost: the jobs may be this worker's all the same.
  let unacknowledged: UnacknowledgedClaims
  private let calls = Locked(JobCalls())
  private let breaker = Locked(CircuitBreaker())
  private let clock: any WorkerClock
  private let start: ContinuousClock.Instant

  /// - Parameter unacknowledged: the numbers of claims whose replies were lost.
  init(_ configuration: ConsumerConfiguration, context: WorkerContext, unacknowledged: [ClaimNumber] = []) {
    queue = configuration.queue
    slots = configuration.slots
    handler = configuration.handler
    mayLeaveJobs = configuration.mayLeaveJobs
    self.context = context
    clock = context.configuration.clock
    start = clock.now
    self.unacknowledged = UnacknowledgedClaims(unacknowledged, clock: clock)
  }

  /// Consumes until the worker stops, and returns once every job that it started has ended.
  func run() async throws {
    // Hashing and waiting for the disk block a thread: each slot has one of its own.
    let executor = try ThreadExecutor(name: "worker-job", threads: slots)
    defer { executor.stop() }
    await withDiscardingTaskGroup { group in
      while context.mayClaim {
        let look = context.heartbeat.isOverdue ? Look() : await claim(free)
        for job in look.jobs {
          group.addTask(executorPreference: executor) {
            await self.handle(job)
            self.wake.raise()
          }
        }
        await wake.wait(
          atMost: look.isComplete ? context.polling.interval : context.configuration.pollInterval, by: clock)
      }
      await drain()
    }
  }

  /// Answers a call now or in a moment, unless it has ended by then.
  func receive(_ call: JobCall) {
    if call.isOver { return calls.withLock { $0.end(call.number) } }
    let delay = JobCalls.delay(among: context.polling.workers, draw: .random(in: 0..<1))
    guard calls.withLock({ $0.receive(call.number) }) else { return wake.raise() }
    guard delay > .zero else { return answer(call) }
    Task {
      try? await clock.sleep(for: delay)
      answer(call)
    }
  }

  private func answer(_ call: JobCall) {
    if calls.withLock({ $0.answer(call.number) }) { wake.raise() }
  }

  /// The jobs of this queue that the worker holds.
  private var held: [HeldJob] { context.held.all.filter { $0.job.queue == queue } }

  /// The number of jobs that may start now.
  private var free: Int {
    guard handler.takesMore else { return 0 }
    // Counted before the breaker is read: a job that fails in between opens the breaker before it leaves `held`. In the
    // other order its slot would be free and the breaker still closed.
    let running = held.count
    return max(0, breaker.withLock { $0.permits(of: slots, at: start.duration(to: clock.now)) } - running)
  }

  /// What a look at the queue has found.
  private struct Look {
    var jobs: [HeldJob] = []
    /// Whether a notification, or the end of a job, precedes everything else that can be found.
    var isComplete = false
  }

  private func claim(_ free: Int) async -> Look {
    let lost = unacknowledged.due()
    let answered = calls.withLock { $0.takeAnswered() }
    guard free > 0 || !lost.isEmpty else { return Look() }
    var look = Look()
    do {
      let (jobs, numbers, remaining) = try await context.pool.run { session in
        var numbers: [ClaimNumber] = []
        var jobs = lost.isEmpty ? [] : try recover(lost, free, &numbers, session)
        jobs += try claim(free - jobs.count, &numbers, session)
        let isFull = jobs.count >= free
        let reply = JobCalls.reply(to: answered, in: queue, isFull: isFull, among: context.polling.workers)
        if !reply.isEmpty { try JobQueue.notify(reply, session) }
        let isAsking = mayLeaveJobs && !isFull
        return (jobs, numbers, try isAsking ? JobQueue.remaining(in: queue, session) : RemainingJobs())
      }
      look.jobs = hold(jobs, numbers)
      if remaining.hasThrottled { look.jobs += try await claimThrottled(free - jobs.count) }
      // Nothing reports that a limit has room again, or that a job is not locked any more, and a lost claim may arrive late.
      look.isComplete = free > 0 && remaining == RemainingJobs() && unacknowledged.isEmpty
    } catch {
      context.log.warning("no job could be claimed", ["queue": queue, "error": "\(error)"])
    }
    return look
  }

  private func claimThrottled(_ free: Int) async throws -> [HeldJob] {
    var granted = 0
    while case let more = try await context.pool.transaction(JobQueue.grant), more > 0 { granted += more }
    guard granted > 0 else { return [] }
    let (jobs, numbers) = try await context.pool.run { [granted] session in
      var numbers: [ClaimNumber] = []
      let jobs = try claim(free, &numbers, session)
      // The others are for workers that have found none.
      if jobs.count < granted { try JobQueue.notify(queue: queue, session) }
      return (jobs, numbers)
    }
    return hold(jobs, numbers)
  }

  private func hold(_ jobs: [ClaimedJob], _ numbers: [ClaimNumber]) -> [HeldJob] {
    context.metrics.claimed(jobs)
    let claimed = jobs.map { HeldJob($0, metrics: context.metrics, tracer: context.tracer) }
    for job in claimed { context.held.add(job) }
    unacknowledged.remove(numbers)
    return claimed
  }

  // A claim that fails from here on is looked up by its number later.
  private func claim(
    _ count: Int, _ acknowledged: inout [ClaimNumber], _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    guard count > 0 else { return [] }
    let number = unacknowledged.add()
    do {
      let jobs = try JobQueue.claim(worker: context.worker, queue: queue, limit: count, number: number, session)
      acknowledged.append(number)
      return jobs
    } catch {
      // The server refused the statement: it claimed nothing.
      if error.kind == .server { unacknowledged.remove([number]) }
      throw error
    }
  }

  /// Looks up what lost claims gave this worker, and releases what no slot is free for.
  private func recover(
    _ numbers: [ClaimNumber], _ free: Int, _ acknowledged: inout [ClaimNumber], _ session: Session
  ) throws -> [ClaimedJob] {
    let found = try JobQueue.claimed(worker: context.worker, numbers: numbers, session)
      .filter { context.held[$0.token] == nil }
    var waiting: [ClaimedJob] = []
    for job in found.dropFirst(free) {
      // A job with a pending cancellation cannot be released: it waits for a slot, whose handler ends it.
      do { try JobQueue.release(job, session) } catch is LeaseLost { waiting.append(job) }
    }
    acknowledged += numbers.filter { number in
      found.contains { $0.belongs(to: number) } && !waiting.contains { $0.belongs(to: number) }
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
    let health = await TaskScope.$current.withValue(job.scope) {
      await handler.handle(job, isAlone: held.count == 1, log: log)
    }
    job.endTrace()
    let seconds = start.duration(to: .now) / .seconds(1)
    context.metrics.took(seconds, kind: job.job.kind)
    context.held.ended.record(job.job.kind, outcome: job.outcome, seconds: seconds, at: clock.now)
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
    guard let pause = breaker.withLock({ $0.failed(at: start.duration(to: clock.now)) }) else { return }
    context.metrics.pause(queue, true)
    context.log.error(
      "the queue is paused: this worker cannot serve it",
      ["queue": queue, "error": outage.description, "seconds": "\(Int(pause / .seconds(1)))"])
  }

  /// Waits for running jobs, then stops the ones that still run; their handlers release them.
  private func drain() async {
    guard !held.isEmpty else { return }
    context.log.info("waiting for running jobs", ["jobs": "\(held.count)"])
    let end = clock.now + context.configuration.drain
    while !held.isEmpty && clock.now < end {
      await wake.wait(atMost: min(context.configuration.pollInterval, clock.now.duration(to: end)), by: clock)
    }
    for job in held { job.stop(.drained) }
  }
}
