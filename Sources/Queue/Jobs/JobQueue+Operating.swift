package import Model
package import Postgres

/// Cancellation, retries and head starts of jobs, in the caller's transaction.
extension JobQueue {
  /// Cancels a job; a job that executes is stopped by its worker.
  package static func cancel(_ id: PublicID, _ session: Session) throws(PostgresError) -> CancelOutcome {
    try cancel([id], session)[id] ?? .notLive
  }

  /// Cancels jobs; jobs that are missing in the result were not live.
  package static func cancel(
    _ ids: [PublicID], _ session: Session
  ) throws(PostgresError) -> [PublicID: CancelOutcome] {
    let parameter = Parameter.texts(ids.map(\.description))
    guard !ids.isEmpty, try !session.execute(statements["lock_jobs"], parameter).isEmpty else { return [:] }
    return try cancel(locked: parameter, session)
  }

  /// Cancels the jobs of what the transaction has locked and deletes: jobs that were enqueued, or found, after `cancel`. A job that
  /// another transaction has locked is left to its worker, which finds that its subject is gone.
  package static func cancelFree(_ ids: [PublicID], _ session: Session) throws(PostgresError) {
    guard !ids.isEmpty else { return }
    var free: [String] = []
    for row in try session.execute(statements["lock_free_jobs"], .texts(ids.map(\.description))) {
      free.append(try row.publicID("public_id").description)
    }
    if !free.isEmpty { _ = try cancel(locked: .texts(free), session) }
  }

  private static func cancel(
    locked parameter: Parameter, _ session: Session
  ) throws(PostgresError) -> [PublicID: CancelOutcome] {
    var outcomes: [PublicID: CancelOutcome] = [:]
    for row in try session.execute(statements["cancel_waiting"], parameter) {
      outcomes[try row.publicID("public_id")] = .cancelled
    }
    for row in try session.execute(statements["cancel_executing"], parameter) {
      outcomes[try row.publicID("public_id")] = .requested
    }
    return outcomes
  }

  /// Makes a dead or scheduled job available now; false if it is in another state, or if another live job has its
  /// unique key.
  package static func retryNow(_ id: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !retryNow([id], session).isEmpty
  }

  /// Makes dead and scheduled jobs available now; returns them with their queues.
  package static func retryNow(
    _ ids: [PublicID], _ session: Session
  ) throws(PostgresError) -> [PublicID: String] {
    let names = Parameter.texts(ids.map(\.description))
    // Scheduled jobs first: a redriven job is not scheduled.
    let retriedNow = try queues(session.execute(statements["retry_now"], names))
    return try retriedNow.merging(queues(session.execute(statements["redrive"], names, .bool(false)))) { $1 }
  }

  /// Gives jobs that died within the loss window of another job further attempts; returns them with their queues.
  package static func revive(
    by policy: FaultPolicy = FaultPolicy(), _ session: Session
  ) throws(PostgresError) -> [PublicID: String] {
    let rows = try session.execute(
      statements["revivable"], .double(policy.lossWindow / .seconds(1)),
      .double(policy.retries.maxPostponement), .double(policy.minRevivalPause / .seconds(1)))
    var ids: [String] = []
    for row in rows { ids.append(try row.publicID("public_id").description) }
    guard !ids.isEmpty else { return [:] }
    return try queues(session.execute(statements["redrive"], .texts(ids), .bool(true)))
  }

  /// Lets waiting jobs that clients wait for go ahead of those that no client waits for, each once: by ten minutes, so that none starves.
  /// All that are waited for go ahead by as much, so that fair shares hold among them; an author has two within ten minutes, which delay
  /// others by as much as two posts do.
  package static func giveHeadStarts(to ids: [PublicID], _ session: Session) throws(PostgresError) {
    var queues: Set<String> = []
    for row in try session.execute(statements["give_head_starts"], .texts(ids.map(\.description))) {
      queues.insert(try row.get("queue"))
    }
    // A claim leaves out what is locked.
    if !queues.isEmpty { try notify(queues: queues.sorted(), session) }
  }

  private static func queues(_ rows: Rows) throws(PostgresError) -> [PublicID: String] {
    var queues: [PublicID: String] = [:]
    for row in rows { queues[try row.publicID("public_id")] = try row.get("queue", as: String.self) }
    return queues
  }
}

/// The outcome of a cancellation.
package enum CancelOutcome: Sendable, Hashable {
  /// The job was waiting and is cancelled.
  case cancelled
  /// The job executes; its worker is asked to stop it.
  case requested
  /// The job does not exist or has ended.
  case notLive
}
