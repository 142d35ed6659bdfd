import Logging
import Model
import Platform
import Postgres
import Queue

/// Takes the long jobs of a queue, one for each free slot.
final class LongLine: Sendable {
  let queue: String
  let slots: Int
  let handler: any JobHandler
  let context: LineContext
  let held: HeldJobs
  /// Claims whose answers were not heard: the jobs may be this worker's all the same.
  private let unheard: UnheardClaims
  private let breaker = Locked(CircuitBreaker())
  private let began = ContinuousClock.now

  init(
    queue: String, slots: Int, handler: any JobHandler, context: LineContext, held: HeldJobs,
    unheard: UnheardClaims = UnheardClaims()
  ) {
    self.queue = queue
    self.slots = slots
    self.handler = handler
    self.context = context
    self.held = held
    self.unheard = unheard
  }

  /// Works until the worker stops, and returns once all that was begun is over.
  func run() async throws {
    // Hashing and waiting for the disk block: they have threads of their own, one for each job.
    let executor = try ThreadExecutor(name: "worker-job", threads: slots)
    defer { executor.stop() }
    await withDiscardingTaskGroup { group in
      while context.mayClaim {
        for job in context.heart.isSilent ? [] : await claim(free) {
          group.addTask(executorPreference: executor) {
            await self.carryOut(job)
            self.context.wake.raise()
          }
        }
        await context.wake.wait(atMost: context.configuration.pollInterval)
      }
      await drain()
    }
  }

  private var mine: [HeldJob] { held.all.filter { $0.job.queue == queue } }

  /// How many jobs may be begun now.
  private var free: Int {
    handler.takesMore
      ? max(0, breaker.withLock { $0.permits(of: slots, at: began.duration(to: .now)) } - mine.count) : 0
  }

  private func claim(_ free: Int) async -> [HeldJob] {
    let before = unheard.due()
    guard free > 0 || !before.isEmpty else { return [] }
    do {
      let (jobs, leases) = try await context.pool.run { session in
        var leases: [Lease] = []
        var jobs = before.isEmpty ? [] : try recover(before, free, &leases, session)
        jobs += try claim(free - jobs.count, &leases, session)
        if jobs.count < free, try JobQueue.grant(session) > 0 {
          jobs += try claim(free - jobs.count, &leases, session)
        }
        return (jobs, leases)
      }
      context.metrics.claimed(jobs)
      let claimed = jobs.map { HeldJob($0, metrics: context.metrics) }
      for job in claimed { held.add(job) }
      unheard.remove(leases)
      return claimed
    } catch {
      context.log.warning("no job could be claimed", ["queue": queue, "error": "\(error)"])
      return []
    }
  }

  // Whatever fails from here on is looked up under the lease later.
  private func claim(
    _ count: Int, _ heard: inout [Lease], _ session: Session
  ) throws(PostgresError) -> [ClaimedJob] {
    guard count > 0 else { return [] }
    let lease = unheard.add()
    do {
      let jobs = try JobQueue.claim(worker: context.worker, queue: queue, limit: count, lease: lease, session)
      heard.append(lease)
      return jobs
    } catch {
      // What the server refused gave nothing.
      if error.kind == .server { unheard.remove([lease]) }
      throw error
    }
  }

  /// What claims gave of which was not heard; what there is no room for by now is given back.
  private func recover(
    _ leases: [Lease], _ free: Int, _ heard: inout [Lease], _ session: Session
  ) throws -> [ClaimedJob] {
    let found = try JobQueue.claimed(worker: context.worker, leases: leases, session)
      .filter { held[$0.token] == nil }
    var waiting: [ClaimedJob] = []
    for job in found.dropFirst(free) {
      // One that is to be cancelled waits here for a slot, where that is seen to.
      do { try JobQueue.release(job, session) } catch is LeaseLost { waiting.append(job) }
    }
    heard += leases.filter { lease in
      found.contains { $0.isHeld(under: lease) } && !waiting.contains { $0.isHeld(under: lease) }
    }
    return Array(found.prefix(free))
  }

  private func carryOut(_ job: HeldJob) async {
    defer { held.remove(job) }
    let log = context.log.with([
      "job": job.job.publicID.description, "request": job.job.request, "attempt": "\(job.job.attempt)",
    ])
    log.info("job started", ["kind": job.job.kind])
    let began = ContinuousClock.now
    let finding = await handler.carryOut(job, isAlone: mine.count == 1, log: log)
    context.metrics.took([began.duration(to: .now) / .seconds(1)], kind: job.job.kind)
    note(finding)
  }

  /// Pauses the queue where it cannot be served, and lets it go on where it can again.
  private func note(_ finding: ServiceFinding) {
    let outage: Outage
    switch finding {
    case .unknown: return
    case .served:
      guard breaker.withLock({ $0.succeeded() }) else { return }
      context.metrics.pause(queue, false)
      return context.log.info("the queue goes on", ["queue": queue])
    case .outage(let found): outage = found
    }
    guard let pause = breaker.withLock({ $0.failed(at: began.duration(to: .now)) }) else { return }
    context.metrics.pause(queue, true)
    context.log.error(
      "the queue is paused: it cannot be served here",
      ["queue": queue, "error": outage.description, "seconds": "\(Int(pause / .seconds(1)))"])
  }

  /// Lets running jobs end for a while; what still runs then is stopped and given back.
  private func drain() async {
    guard !mine.isEmpty else { return }
    context.log.info("waiting for running jobs", ["jobs": "\(mine.count)"])
    let clock = ContinuousClock()
    let end = clock.now + context.configuration.drain
    while !mine.isEmpty && clock.now < end {
      await context.wake.wait(atMost: min(context.configuration.pollInterval, clock.now.duration(to: end)))
    }
    for job in mine { job.stop(.drained) }
  }
}
