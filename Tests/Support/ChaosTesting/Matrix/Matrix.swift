import Platform
import SeededRandom

/// All failpoints that a worker and a producer pass, crossed with all faults.
package enum Matrix {
  /// The faults.
  static let faults: [FaultKind] = [.kill, .freeze, .terminate, .halfOpen, .crash, .cut]

  /// The failpoints that a worker passes with the jobs of `MatrixSetup`.
  static let workerFailpoints =
    [
      "connection.open", "connection.listen", "transaction.begin", "transaction.commit",
      "chaos.effect",
    ]
    + [
      "register", "deregister", "heartbeat", "claim", "claimed", "complete",
      "fail", "release", "snooze", "progress", "notify", "lock_jobs",
      "cancel_waiting", "cancel_executing", "reap", "sweep", "fold_dead_counts", "doubt_schedules", "doubt_deadlines",
      "doubt_beats", "promote",
      "take_turn", "next_due", "next_expiry", "remaining", "drop_dead",
      "lock_limits", "grant", "drop_shares", "lock_history", "missing_days", "add_partition", "expired_days",
      "lock_timeout", "drop_partition", "drop_rest",
    ].map { "queue." + $0 }

  /// The failpoints that a producer and its operator pass.
  static let producerFailpoints =
    [
      "connection.open", "transaction.begin", "transaction.commit", "chaos.order", "chaos.absorb", "chaos.ordered",
      "chaos.live",
    ]
    + [
      "enqueue", "enqueue_many", "now", "notify", "lock_jobs", "cancel_waiting", "cancel_executing",
      "redrive", "retry_now",
    ].map { "queue." + $0 }

  /// The failpoints that must cause an error before another one is passed.
  static let preconditions = ["queue.claimed": "queue.claim.after=cut"]

  /// The failpoints that only the controller passes.
  static let controllerFailpoints = [
    "terminate", "orders", "outcomes", "effects", "transitions", "workers", "age_history", "ordered_jobs",
    "posts", "files", "unfinished_posts", "unfinished_media", "connections",
    "latest_run", "reprocess_runs", "reprocess_attempts", "histories", "sets", "differing_assets", "orphan_blobs",
  ].map { "chaos." + $0 }

  /// The failpoints that only the workers of the service pass; the service storm covers them.
  static let serviceFailpoints = [
    "queue.postpone", "queue.revivable", "queue.notify_many", "queue.lock_free_jobs", "queue.give_head_starts",
    "transaction.rollback",
    "transaction.savepoint", "transaction.rollback_to",
    "transaction.release",
    // Those of couriers: the storm of webhooks covers them, in Tests/push.
    "queue.confirm", "queue.drop_held", "queue.keep_live",
  ]

  /// All cells, in a fixed order.
  package static let cells: [MatrixCell] = [
    (Participant.Role.worker, workerFailpoints), (.producer, producerFailpoints),
  ]
  .flatMap { role, failpoints in
    failpoints.flatMap { failpoint in
      Failpoint(failpoint).points.flatMap { point in
        faults.filter { $0 != .cut || failpoint != "connection.open" }.map {
          MatrixCell(role: role, point: point, fault: $0)
        }
      }
    }
  }

  /// Returns random cells for a seed, with equal numbers of all faults.
  package static func slice(_ count: Int, seed: UInt64) -> [MatrixCell] {
    var random = SplitMix64(seed: seed)
    var byFault = faults.map { fault in cells.filter { $0.fault == fault }.shuffled(using: &random) }
    return (0..<min(count, cells.count)).compactMap { index in byFault[index % faults.count].popLast() }
  }
}

/// One cell of the matrix: a role, a point that its process passes, and the fault at this point.
package struct MatrixCell: Sendable, Hashable, CustomStringConvertible {
  let role: Participant.Role
  /// A failpoint, with `.before` or `.after`.
  let point: String
  let fault: FaultKind

  package var description: String { "\(role.rawValue) \(point) \(fault)" }

  /// The failpoint, without `.before` or `.after`.
  var failpoint: String { String(point.prefix(upTo: point.lastIndex(of: ".") ?? point.endIndex)) }
}
