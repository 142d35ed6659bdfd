import Platform
import Queue

/// The leases under which was asked for jobs, until what they gave is known.
final class UnheardClaims: Sendable {
  private let leases = Locked<[Lease]>([])

  /// A new one.
  func add() -> Lease {
    let lease = Lease()
    leases.withLock { $0.append(lease) }
    return lease
  }

  /// Those whose jobs are known now.
  func remove(_ known: [Lease]) { leases.withLock { $0.removeAll { known.contains($0) } } }

  /// All of them.
  var all: [Lease] { leases.withLock { $0 } }
}
