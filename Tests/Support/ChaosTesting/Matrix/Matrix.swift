import Platform

/// Every failpoint on the ways of a worker and of a producer, crossed with every fault.
package enum Matrix {
  /// What happens at each point.
  package static let faults: [FaultKind] = [.kill, .freeze, .terminate, .halfOpen, .crash, .cut]

  /// What a worker does in the matrix's scene, at least once.
  package static let workerActs = [
    "connection.open", "connection.listen", "transaction.begin", "transaction.commit", "transaction.rollback",
    "transaction.savepoint", "transaction.rollback_to", "transaction.release", "queue.register", "queue.deregister",
    "queue.claim", "queue.claim_group", "queue.claimed",
    "queue.claimed_group", "queue.settle", "queue.beat", "queue.complete", "queue.retry", "queue.bury",
    "queue.release", "queue.snooze", "queue.checkpoint", "queue.progress", "queue.reap", "queue.reap_groups",
    "queue.sweep", "queue.promote", "queue.lock_limits", "queue.grant", "queue.drop_shares", "queue.lock_history",
    "queue.missing_days", "queue.add_partition", "queue.expired_days", "queue.lock_timeout", "queue.drop_partition",
    "queue.drop_rest", "queue.hold", "queue.cancel_waiting", "queue.cancel_executing", "queue.cancel_member",
    "chaos.effect",
  ]

  /// What a producer does in it.
  package static let producerActs = [
    "connection.open", "transaction.begin", "transaction.commit", "queue.enqueue", "queue.enqueue_many", "queue.now",
    "queue.announce", "queue.hold", "queue.cancel_waiting", "queue.cancel_executing", "queue.redrive", "queue.hasten",
    "queue.find", "queue.list", "queue.depths", "chaos.order", "chaos.absorb", "chaos.ordered", "chaos.live",
  ]

  /// What has to go wrong before, so that an act comes about at all.
  static let conditions = [
    "queue.claimed": "queue.claim.after=cut", "queue.claimed_group": "queue.claim_group.after=cut",
  ]

  /// What only the controller does, or nobody.
  static let foreignActs = [
    "chaos.terminate", "chaos.orders", "chaos.fates", "chaos.effects", "chaos.passages", "chaos.workers",
    "chaos.age_history", "chaos.ordered_jobs",
  ]

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
