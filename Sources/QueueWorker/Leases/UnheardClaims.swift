import Platform
import Queue

/// The leases under which was asked for jobs, until what they gave is known.
///
/// A claim whose answer was lost may be carried out long after it was sent: its lease is looked up again and again, as long
/// as a network may hold back what it was given.
final class UnheardClaims: Sendable {
  private struct Claim {
    let lease: Lease
    let sent: ContinuousClock.Instant
    var lookedUp: ContinuousClock.Instant
  }

  private static let interval = Duration.seconds(1)
  // As long as TCP sends again what was not acknowledged (RFC 9293, 3.8.3; Linux: tcp_retries2).
  private static let longest = Duration.seconds(16 * 60)

  private let claims = Locked<[Claim]>([])

  init(_ leases: [Lease] = []) {
    for lease in leases { add(lease, lookedUp: .now - Self.interval) }
  }

  /// A new one.
  func add() -> Lease {
    let lease = Lease()
    // It is looked up as soon as it is known that nothing was heard.
    add(lease, lookedUp: .now - Self.interval)
    return lease
  }

  private func add(_ lease: Lease, lookedUp: ContinuousClock.Instant) {
    claims.withLock { $0.append(Claim(lease: lease, sent: .now, lookedUp: lookedUp)) }
  }

  /// Those whose jobs are known now.
  func remove(_ known: [Lease]) { claims.withLock { $0.removeAll { known.contains($0.lease) } } }

  /// Those that are to be looked up now: each once a second.
  func due() -> [Lease] {
    let now = ContinuousClock.now
    return claims.withLock { claims in
      claims.removeAll { now - $0.sent > Self.longest }
      return claims.indices.filter { now - claims[$0].lookedUp >= Self.interval }.map { place in
        claims[place].lookedUp = now
        return claims[place].lease
      }
    }
  }
}
