import Platform

/// Every failpoint on the ways of a worker and of a producer, crossed with every fault.
package enum Matrix {
  /// What happens at each point.
  package static let faults: [FaultKind] = [.kill, .freeze, .terminate, .halfOpen, .crash, .cut]

  /// What a worker does in the matrix's scene, at least once.
  package static let workerActs =
    [
      "connection.open", "connection.listen", "transaction.begin", "transaction.commit", "transaction.rollback",
      "transaction.savepoint", "transaction.rollback_to", "transaction.release", "chaos.effect",
    ]
    + [
      "register", "deregister", "heartbeat", "claim", "claimed", "complete",
      "retry", "bury", "release", "snooze", "progress", "notify", "notify_many", "hold",
      "cancel_waiting", "cancel_executing", "reap", "sweep", "promote",
      "lock_limits", "grant", "drop_shares", "lock_history", "missing_days", "add_partition", "expired_days",
      "lock_timeout", "drop_partition", "drop_rest", "cron_due", "cron_time", "cron_instants", "cron_advance",
      "enqueue",
    ].map { "queue." + $0 }

  /// What a producer does in it, and the operator that it plays.
  package static let producerActs =
    [
      "connection.open", "transaction.begin", "transaction.commit", "chaos.order", "chaos.absorb", "chaos.ordered",
      "chaos.live",
    ]
    + [
      "enqueue", "enqueue_many", "now", "notify", "hold", "cancel_waiting", "cancel_executing",
      "redrive", "retry_now",
      "cron_has_zone", "cron_time", "cron_instants", "cron_set", "cron_pause", "cron_entry", "cron_resume",
      "cron_entries", "cron_next_of_kind", "cron_remove",
    ].map { "queue." + $0 }

  /// What has to go wrong before, so that an act comes about at all.
  static let conditions = ["queue.claimed": "queue.claim.after=cut"]

  /// What only the controller does.
  static let foreignActs = [
    "terminate", "orders", "fates", "effects", "passages", "workers", "age_history", "ordered_jobs", "hurry_cron",
    "cron_entries", "posts", "files", "unfinished", "unmade", "connections", "latest_run", "reprocess_runs",
    "reprocess_attempts", "histories", "sets", "unequal", "loose_blobs",
  ].map { "chaos." + $0 }

  /// What the workers of the service do, and those of the matrix do not: the storm over the real programs interrupts it.
  static let serviceActs = ["queue.postpone", "queue.revivable"]

  /// All places of the matrix, in a fixed order.
  package static let cells: [MatrixCell] = [(Member.Role.worker, workerActs), (.producer, producerActs)]
    .flatMap { role, acts in
      acts.flatMap { act in
        Failpoint(act).points.flatMap { point in
          faults.filter { $0 != .cut || act != "connection.open" }.map { MatrixCell(role, point, $0) }
        }
      }
    }

  /// So many of them, chosen by a seed: each fault as often as the others.
  package static func slice(_ count: Int, seed: UInt64) -> [MatrixCell] {
    var random = SplitMix64(seed: seed)
    var byFault = faults.map { fault in cells.filter { $0.fault == fault }.shuffled(using: &random) }
    return (0..<min(count, cells.count)).compactMap { place in byFault[place % faults.count].popLast() }
  }
}
