package import Model
package import Postgres

/// What an operator does to jobs, one or many at a time, in the caller's transaction.
extension JobQueue {
  /// Cancels a job; one that runs is stopped by its worker.
  package static func cancel(_ id: PublicID, _ session: Session) throws(PostgresError) -> Cancelling {
    try cancel([id], session)[id] ?? .notLive
  }

  /// Cancels jobs; those that are not named in the answer were not live.
  package static func cancel(
    _ ids: [PublicID], _ session: Session
  ) throws(PostgresError) -> [PublicID: Cancelling] {
    var outcomes: [PublicID: Cancelling] = [:]
    let parameter = Parameter.texts(ids.map(\.description))
    guard try !session.execute(statements["hold"], parameter).isEmpty else { return outcomes }
    for row in try session.execute(statements["cancel_waiting"], parameter) {
      outcomes[try row.publicID("public_id")] = .cancelled
    }
    for row in try session.execute(statements["cancel_executing"], parameter) {
      outcomes[try row.publicID("public_id")] = .requested
    }
    return outcomes
  }

  /// Lets a dead job, or one that waits for its next attempt, be tried at once; false if it is neither, or if another
  /// live job has its key.
  package static func retryNow(_ id: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !retryNow([id], session).isEmpty
  }

  /// Lets those of the jobs that are dead, or wait for their next attempt, be tried at once: which, and in which queue.
  package static func retryNow(
    _ ids: [PublicID], _ session: Session
  ) throws(PostgresError) -> [PublicID: String] {
    let names = Parameter.texts(ids.map(\.description))
    // The scheduled ones first: what was dead is none of them.
    let retriedNow = try queues(session.execute(statements["retry_now"], names))
    return try retriedNow.merging(queues(session.execute(statements["redrive"], names, .bool(false)))) { $1 }
  }

  /// Lets jobs that died while the fleet was unwell be tried again: which, and in which queue.
  package static func revive(
    by policy: FaultPolicy = FaultPolicy(), _ session: Session
  ) throws(PostgresError) -> [PublicID: String] {
    let rows = try session.execute(
      statements["revivable"], .double(policy.unwell / .seconds(1)), .double(policy.timeout / .seconds(1)),
      .double(policy.revival / .seconds(1)))
    var ids: [String] = []
    for row in rows { ids.append(try row.publicID("public_id").description) }
    guard !ids.isEmpty else { return [:] }
    return try queues(session.execute(statements["redrive"], .texts(ids), .bool(true)))
  }

  private static func queues(_ rows: Rows) throws(PostgresError) -> [PublicID: String] {
    var queues: [PublicID: String] = [:]
    for row in rows { queues[try row.publicID("public_id")] = try row.get("queue", as: String.self) }
    return queues
  }
}
