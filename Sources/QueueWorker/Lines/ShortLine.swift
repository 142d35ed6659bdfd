import Logging
import Model
import Platform
import Postgres
import Queue

/// Takes the short jobs of a queue in groups, on one connection: claim, carry out, settle, all on its thread.
final class ShortLine: Sendable {
  let queue: String
  let limit: Int
  let handler: any ShortJobHandler
  let connection: Connection
  let context: LineContext
  private let wake: ThreadWakeUp
  private let floor = Locked(ClaimFloor())
  private let began = ContinuousClock.now
  /// A group whose end is not known to be written: it comes before any other.
  private let unsettled = Locked<GroupClaim?>(nil)
  /// Claims whose answers were not heard: their groups may be this worker's all the same.
  private let unheard = UnheardClaims()

  /// - Parameter wake: of this line alone; it is raised together with the context's.
  init(
    queue: String, limit: Int, handler: any ShortJobHandler, connection: Connection, context: LineContext,
    wake: ThreadWakeUp
  ) {
    self.wake = wake
    self.queue = queue
    self.limit = limit
    self.handler = handler
    self.connection = connection
    self.context = context
  }

  /// Works until the worker stops; a group that was begun is ended, with what it could not do any more given back.
  func run() async {
    while context.mayClaim || unsettled.withLock({ $0 != nil }) {
      do {
        try await connection.run { session in
          // The thread that claims hears of news itself: every switch between threads is a part of a job's latency.
          _ = try session.listen(to: QueueChannel.jobs)
          while true {
            try workOff(session)
            guard context.mayClaim else { return }
            try session.hear(orUntil: wake, atMost: context.configuration.pollInterval)
          }
        }
      } catch {
        context.log.warning("short jobs could not be worked off", ["queue": queue, "error": "\(error)"])
        // What the database has lost is reaped there; a worker that ends has nothing to wait for.
        guard context.mayClaim else { return }
        await context.wake.wait(atMost: context.configuration.pollInterval)
      }
    }
  }

  /// Until nothing waits.
  private func workOff(_ session: Session) throws {
    if let group = unsettled.withLock({ $0 }) { try carryOut(group, session) }
    for lease in unheard.due() {
      guard let group = try JobQueue.claimedGroup(worker: context.worker, lease: lease, session) else { continue }
      unsettled.withLock { $0 = group }
      unheard.remove([lease])
      try carryOut(group, session)
    }
    while context.mayClaim && !context.heart.isSilent {
      guard let group = try claim(session) else { return }
      unsettled.withLock { $0 = group }
      context.metrics.claimed(group.jobs)
      try carryOut(group, session)
    }
  }

  private func claim(_ session: Session) throws -> GroupClaim? {
    let lowest = floor.withLock { $0.next(at: began.duration(to: .now)) }
    let lease = unheard.add()
    let group: GroupClaim?
    do {
      group = try JobQueue.claimGroup(
        worker: context.worker, queue: queue, limit: limit, floor: lowest, lease: lease, session)
    } catch {
      // What the server refused gave nothing.
      if error.kind == .server { unheard.remove([lease]) }
      throw error
    }
    unheard.remove([lease])
    floor.withLock { $0.note(group?.jobs.map(\.rank) ?? [], limit: limit) }
    if group == nil && lowest > .min { return try claim(session) }
    if group == nil, try JobQueue.grant(session) > 0 { return try claim(session) }
    return group
  }

  private func carryOut(_ group: GroupClaim, _ session: Session) throws {
    do {
      let endings = try settle(group, session)
      count(group, endings)
      try? handler.tell(of: group.jobs.filter { Self.isCompleted(endings[$0.id]?.ending) }, session)
    } catch let lost as LeaseLost {
      // Or it was written before, and only the answer was lost.
      context.log.warning("a group had ended before", ["queue": queue, "error": "\(lost)"])
    } catch let error as PostgresError where error.isTransient {
      throw error
    }
    unsettled.withLock { $0 = nil }
  }

  /// Of a kind and outcome at once: there may be a thousand.
  private func count(_ group: GroupClaim, _ endings: [Int64: Ending]) {
    var outcomes: [String: [String: Int]] = [:]
    var seconds: [String: [Double]] = [:]
    for job in group.jobs {
      let ending = endings[job.id]
      outcomes[job.kind, default: [:]][Self.outcome(ending?.ending), default: 0] += 1
      if let took = ending?.seconds { seconds[job.kind, default: []].append(took) }
    }
    for (kind, counts) in outcomes {
      for (outcome, count) in counts { context.metrics.end(kind: kind, outcome: outcome, by: count) }
    }
    for (kind, seconds) in seconds { context.metrics.took(seconds, kind: kind) }
  }

  /// How a job ended, and how long it took; nothing of one that was given back unbegun.
  private struct Ending {
    let ending: MemberEnding
    let seconds: Double?
  }

  private func settle(_ group: GroupClaim, _ session: Session) throws -> [Int64: Ending] {
    do {
      return try session.transaction { session in
        try settle(group, session) { job in try handler.carryOut(job, session) }
      }
    } catch let error as PostgresError where error.isTransient {
      throw error
    } catch let lost as LeaseLost {
      throw lost
    } catch {
      // One of them failed and took what the others wrote with it: each gets a part of the transaction to itself.
      return try session.transaction { session in
        try settle(group, session) { job in
          do {
            return try session.savepoint { session in try handler.carryOut(job, session) }
          } catch let error as PostgresError where error.isTransient {
            throw error
          } catch {
            return Self.failure(of: job, error)
          }
        }
      }
    }
  }

  private func settle(
    _ group: GroupClaim, _ session: Session, _ carryOut: (ClaimedJob) throws -> MemberEnding
  ) throws -> [Int64: Ending] {
    var endings: [Int64: Ending] = [:]
    endings.reserveCapacity(group.jobs.count)
    var exceptions: [Int64: MemberEnding] = [:]
    var began = ContinuousClock.now
    for job in group.jobs {
      let isBegun = !context.stopping.isCancelled
      let ending = isBegun ? try carryOut(job) : .released
      let ended = ContinuousClock.now
      endings[job.id] = Ending(ending: ending, seconds: isBegun ? began.duration(to: ended) / .seconds(1) : nil)
      if ending != .completed() { exceptions[job.id] = ending }
      began = ended
    }
    try JobQueue.settle(group, exceptions, session)
    return endings
  }

  private static func failure(of job: ClaimedJob, _ error: any Error) -> MemberEnding {
    switch RetryPolicy().next(attempt: job.attempt, maxAttempts: job.maxAttempts, random: .random(in: 0...1)) {
    case .retry(let seconds): .retry(seconds: seconds, error: "\(error)")
    case .bury: .dead(error: "\(error)")
    }
  }

  private static func isCompleted(_ ending: MemberEnding?) -> Bool {
    guard let ending else { return true }
    if case .completed = ending { return true } else { return false }
  }

  private static func outcome(_ ending: MemberEnding?) -> String {
    switch ending {
    case nil, .completed(.accepted, _): "accepted"
    case .completed(.rejected, _): "rejected"
    case .completed(.cancelled, _): "cancelled"
    case .retry: "retried"
    case .snoozed: "snoozed"
    case .dead: "dead"
    case .released: "released"
    }
  }
}
