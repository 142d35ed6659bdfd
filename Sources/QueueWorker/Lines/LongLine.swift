import Logging
import Model
import Platform
import Postgres
import Queue

/// Takes the long jobs of a queue, one for each free slot.
struct LongLine: Sendable {
  let queue: String
  let slots: Int
  let handler: any JobHandler
  let context: LineContext
  let held: HeldJobs
  /// Claims whose answers were not heard: the jobs may be this worker's all the same.
  private let unheard = UnheardClaims()

  init(queue: String, slots: Int, handler: any JobHandler, context: LineContext, held: HeldJobs) {
    self.queue = queue
    self.slots = slots
    self.handler = handler
    self.context = context
    self.held = held
  }

  /// Works until the worker stops, and returns once all that was begun is over.
  func run() async throws {
    // Hashing and waiting for the disk block: they have threads of their own, one for each job.
    let executor = try ThreadExecutor(name: "worker-job", threads: slots)
    defer { executor.stop() }
    await withDiscardingTaskGroup { group in
      while context.mayClaim {
        let free = context.heart.isSilent ? 0 : slots - mine.count
        for job in free > 0 ? await claim(free) : [] {
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

  private func claim(_ count: Int) async -> [HeldJob] {
    do {
      let (jobs, leases) = try await context.pool.run { session in
        // Whatever fails from here on is looked up under these leases the next time.
        let before = unheard.all
        var jobs: [ClaimedJob] = []
        for lease in before { jobs += try JobQueue.claimed(worker: context.worker, lease: lease, session) }
        jobs += try claim(count - jobs.count, session)
        if jobs.count < count, try JobQueue.grant(session) > 0 { jobs += try claim(count - jobs.count, session) }
        return (jobs, unheard.all)
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

  private func claim(_ count: Int, _ session: Session) throws(PostgresError) -> [ClaimedJob] {
    guard count > 0 else { return [] }
    return try JobQueue.claim(worker: context.worker, queue: queue, limit: count, lease: unheard.add(), session)
  }

  private func carryOut(_ job: HeldJob) async {
    defer { held.remove(job) }
    let log = context.log.with([
      "job": job.job.publicID.description, "request": job.job.request, "attempt": "\(job.job.attempt)",
    ])
    log.info("job started", ["kind": job.job.kind])
    let began = ContinuousClock.now
    await handler.carryOut(job, isAlone: mine.count == 1, log: log)
    context.metrics.took([began.duration(to: .now) / .seconds(1)], kind: job.job.kind)
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
