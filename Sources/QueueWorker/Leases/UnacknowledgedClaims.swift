import Platform
import Queue

/// The leases of claims whose outcome is not known yet.
///
/// The server may perform a claim long after its reply was lost: each lease is looked up again for as long as a network may
/// hold the statement back.
final class UnacknowledgedClaims: Sendable {
  private struct Claim {
    let lease: Lease
    let sent: ContinuousClock.Instant
    var lookedUp: ContinuousClock.Instant
  }

  private static let interval = Duration.seconds(1)
  // As long as TCP retransmits what is not acknowledged (RFC 9293, 3.8.3; Linux: tcp_retries2).
  private static let maxAge = Duration.seconds(16 * 60)

  private let claims = Locked<[Claim]>([])

  init(_ leases: [Lease] = []) {
    for lease in leases { add(lease) }
  }

  /// Adds the lease of a claim that is about to be sent.
  func add() -> Lease {
    let lease = Lease()
    add(lease)
    return lease
  }

  private func add(_ lease: Lease) {
    // It is due at once: the next look at the queue comes after a lost reply.
    claims.withLock { $0.append(Claim(lease: lease, sent: .now, lookedUp: .now - Self.interval)) }
  }

  /// Removes leases whose jobs are known.
  func remove(_ known: [Lease]) { claims.withLock { $0.removeAll { known.contains($0.lease) } } }

  /// The leases to look up now: each once a second.
  func due() -> [Lease] {
    let now = ContinuousClock.now
    return claims.withLock { claims in
      claims.removeAll { now - $0.sent > Self.maxAge }
      return claims.indices.filter { now - claims[$0].lookedUp >= Self.interval }.map { index in
        claims[index].lookedUp = now
        return claims[index].lease
      }
    }
  }
}
