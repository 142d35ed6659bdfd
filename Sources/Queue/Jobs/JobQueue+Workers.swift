package import Model
package import Postgres

/// The registration of workers, and the maintenance that one of them performs for all.
extension JobQueue {
  /// Registers a worker; returns its id, which is never used again.
  ///
  /// - Parameters:
  ///   - leaseSeconds: the age of the last heartbeat at which other workers may take its jobs.
  ///   - slots: how many jobs it performs at the same time.
  package static func register(
    host: String, process: Int32, leaseSeconds: Double = 30, slots: Int = 1, _ session: Session
  ) throws(PostgresError) -> Int64 {
    let rows = try session.execute(
      statements["register"], .text(host), .integer(Int64(process)), .double(leaseSeconds), .integer(slots))
    return try rows.single().get("id")
  }

  /// Removes the row of a worker that ended; other workers take the jobs that it still holds.
  package static func deregister(worker: Int64, _ session: Session) throws(PostgresError) {
    try session.execute(statements["deregister"], .integer(worker))
  }

  /// Takes the turn to perform the maintenance for all workers, or prolongs it.
  ///
  /// Two workers may believe to have it for a moment: nothing depends on the turn but that the work is done about once.
  ///
  /// - Parameter seconds: the time until another worker may take it.
  package static func takeTurn(
    worker: Int64, seconds: Double, _ session: Session
  ) throws(PostgresError) -> MaintenanceTurn {
    let rows = try session.execute(statements["take_turn"], .integer(worker), .double(seconds))
    // Without a row another worker has just taken the first turn of all.
    guard let row = rows.first else { return MaintenanceTurn(end: .seconds(seconds), workers: 0) }
    return MaintenanceTurn(
      end: try row.get("ends_in", as: Double?.self).map { .seconds(max(0, min($0, seconds))) },
      workers: try row.get("workers"))
  }

  /// Renews a worker's lease.
  ///
  /// - Parameters:
  ///   - jobs: the jobs that the worker holds.
  ///   - recent: what it has done within the last hour.
  package static func heartbeat(
    worker: Int64, holding jobs: [(id: Int64, token: Int64)], recent: RecentAttempts? = nil, _ session: Session
  ) throws -> HeartbeatReply {
    let rows = try session.execute(
      statements["heartbeat"], .integer(worker), .integers(jobs.map(\.id)), .integers(jobs.map(\.token)),
      .text(try recent.map { try JSON.text($0.kinds) }))
    var reply = HeartbeatReply()
    for row in rows {
      guard let token = try row.get("token", as: Int64?.self) else {
        reply.isEvicted = try row.get("evicted")
        continue
      }
      if try row.get("lost") { reply.lost.insert(token) } else { reply.cancelled.insert(token) }
    }
    return reply
  }

  /// Takes jobs from workers whose lease has expired, and jobs past their deadline. Heartbeats and deadlines from the future, by a
  /// clock that has stepped back, are set to now, and so are the pauses of jobs.
  ///
  /// The caller writes the consequences, such as the failure of a job's post, in the same transaction.
  package static func reap(
    by policy: FaultPolicy = FaultPolicy(), _ session: Session
  ) throws(PostgresError) -> [Reaped] {
    var reaped: [Reaped] = []
    let rows = try session.execute(
      statements["reap"], .integer(policy.maxBlamed), .texts(policy.stagesAtRisk.sorted()),
      .double(policy.lossWindow / .seconds(1)), .double(policy.retries.maxPostponement),
      .double(policy.retries.firstPause), .double(policy.retries.maxPause))
    for row in rows {
      let state: JobState =
        switch try row.get("state", as: String.self) {
        case "s": .scheduled
        case "c": .cancelled
        default: .dead
        }
      reaped.append(
        Reaped(
          id: try row.get("id"), publicID: try row.publicID("public_id"), kind: try row.get("kind"), state: state))
    }
    try session.execute(statements["sweep"])
    try session.execute(statements["fold_dead_counts"])
    // Last: a heartbeat that comes meanwhile waits for the end of this transaction.
    try session.execute(statements["doubt_schedules"])
    try session.execute(statements["doubt_deadlines"])
    try session.execute(statements["doubt_beats"])
    return reaped
  }

  /// The time until the first lease or deadline of a running job ends, zero if it has ended; nil: no job runs.
  package static func nextExpiry(_ session: Session) throws(PostgresError) -> Duration? {
    try session.execute(statements["next_expiry"]).single().get("seconds", as: Double?.self)
      .map { .seconds(min(max($0, 0), 3600)) }
  }

  /// Makes scheduled jobs that are due available, or throttled if they have a limit; returns the queue of each.
  package static func promote(limit: Int = 1000, _ session: Session) throws(PostgresError) -> [String] {
    var queues: [String] = []
    for row in try session.execute(statements["promote"], .integer(limit)) { queues.append(try row.get("queue")) }
    return queues
  }

  /// The time until the next job is due, at most an hour; nil: none is scheduled.
  package static func nextDue(_ session: Session) throws(PostgresError) -> Duration? {
    try session.execute(statements["next_due"]).single().get("seconds", as: Double?.self)
      .map { .seconds(min(max($0, 0), 3600)) }
  }

  /// What a claim of fewer jobs than it may take has left in a queue.
  package static func remaining(in queue: String, _ session: Session) throws(PostgresError) -> RemainingJobs {
    let row = try session.execute(statements["remaining"], .text(queue)).single()
    return RemainingJobs(hasThrottled: try row.get("has_throttled"), hasAvailable: try row.get("has_available"))
  }

  /// Makes throttled jobs available as far as their limits have room, a part of the limits at a time, so that no transaction is long;
  /// returns their number. Call it, each time in a transaction of its own, until there are none.
  package static func grant(_ session: Session) throws -> Int {
    var names: [String] = []
    for row in try session.execute(statements["lock_limits"]) { names.append(try row.get(0)) }
    return names.isEmpty ? 0 : try session.execute(statements["grant"], .texts(names)).count
  }

  /// Deletes fair shares whose next rank has passed.
  package static func dropShares(_ session: Session) throws(PostgresError) {
    while try session.execute(statements["drop_shares"]).affected > 0 {}
  }
}

/// The reply to a heartbeat.
package struct HeartbeatReply: Sendable, Hashable {
  /// The tokens of jobs that the worker does not hold any more.
  package var lost: Set<Int64> = []
  /// The tokens of jobs that are to be cancelled.
  package var cancelled: Set<Int64> = []
  /// Whether the worker's row is gone: the worker must register again.
  package var isEvicted = false

  package init() {}
}

/// A job that was taken from its worker.
package struct Reaped: Sendable, Hashable {
  package let id: Int64
  package let publicID: PublicID
  package let kind: String
  /// Scheduled for another attempt, dead, or cancelled.
  package let state: JobState
}

/// The jobs that a claim has left in a queue.
package struct RemainingJobs: Sendable, Hashable {
  /// Jobs that wait for their limits.
  package var hasThrottled = false
  /// Jobs that another transaction had locked, whose end nothing reports.
  package var hasAvailable = false
}

/// Which worker performs the maintenance.
package struct MaintenanceTurn: Sendable {
  /// The time until the turn of another worker ends; nil: the worker that asks has it.
  package let end: Duration?
  /// The number of registered workers; 0: unknown.
  package let workers: Int
}
