import Model
package import Postgres

/// Who works, and what is left behind by who does not any more.
extension JobQueue {
  /// Makes a row for a worker that starts now; its id is never used again.
  ///
  /// - Parameter leaseSeconds: without a sign of life for so long its jobs go to others.
  package static func register(
    host: String, process: Int32, leaseSeconds: Double = 30, _ session: Session
  ) throws(PostgresError) -> Int64 {
    let rows = try session.execute(
      statements["register"], .text(host), .integer(Int64(process)), .double(leaseSeconds))
    return try rows.single().get("id")
  }

  /// Removes the row of a worker that ended; jobs that it still holds go to others.
  package static func deregister(worker: Int64, _ session: Session) throws(PostgresError) {
    try session.execute(statements["deregister"], .integer(worker))
  }

  /// A worker's sign of life, for itself and the jobs it holds.
  package static func heartbeat(
    worker: Int64, holding jobs: [(id: Int64, token: Int64)], _ session: Session
  ) throws(PostgresError) -> HeartbeatReply {
    let rows = try session.execute(
      statements["heartbeat"], .integer(worker), .integers(jobs.map(\.id)), .integers(jobs.map(\.token)))
    var answer = HeartbeatReply()
    for row in rows {
      guard let token = try row.get("token", as: Int64?.self) else {
        answer.isEvicted = try row.get("evicted")
        continue
      }
      if try row.get("lost") { answer.lost.insert(token) } else { answer.cancelled.insert(token) }
    }
    return answer
  }

  /// Takes jobs from workers without a sign of life within their lease, and jobs past their deadline.
  ///
  /// What follows from a job's end, for instance for its post, belongs into the same transaction.
  package static func reap(
    by policy: FaultPolicy = FaultPolicy(), _ session: Session
  ) throws(PostgresError) -> [Reaped] {
    var reaped: [Reaped] = []
    let rows = try session.execute(
      statements["reap"], .integer(policy.maxBlamed), .texts(policy.stagesAtRisk.sorted()),
      .double(policy.unwell / .seconds(1)), .double(policy.timeout / .seconds(1)))
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
    return reaped
  }

  /// Makes scheduled jobs whose time has come available, or parks them if they are limited; how many.
  package static func promote(limit: Int = 1000, _ session: Session) throws(PostgresError) -> Int {
    try session.execute(statements["promote"], .integer(limit)).count
  }

  /// Makes parked jobs available as far as their limits have room; how many.
  package static func grant(_ session: Session) throws -> Int {
    try session.transaction { session in
      var names: [String] = []
      for row in try session.execute(statements["lock_limits"]) { names.append(try row.get(0)) }
      return names.isEmpty ? 0 : try session.execute(statements["grant"], .texts(names)).count
    }
  }

  /// Forgets turns that have passed.
  package static func dropShares(_ session: Session) throws(PostgresError) {
    while try session.execute(statements["drop_shares"]).affected > 0 {}
  }
}
