import Platform

/// The numbers of claims whose outcome is not known yet.
///
/// The server may perform a claim long after its reply was lost: each is looked up again for as long as a network may
/// hold the statement back.
final class UnacknowledgedClaims: Sendable {
  private struct Claim {
    let number: ClaimNumber
    let sent: ContinuousClock.Instant
    var lookedUp: ContinuousClock.Instant
  }

  private static let interval = Duration.seconds(1)
  // As long as TCP retransmits what is not acknowledged (RFC 9293, 3.8.3; Linux: tcp_retries2).
  private static let maxAge = Duration.seconds(16 * 60)

  private let claims = Locked<[Claim]>([])
  private let clock: any WorkerClock

  init(_ numbers: [ClaimNumber] = [], clock: any WorkerClock) {
    self.clock = clock
    for number in numbers { add(number) }
  }

  /// Adds the number of a claim that is about to be sent.
  func add() -> ClaimNumber {
    let number = ClaimNumber()
    add(number)
    return number
  }

  private func add(_ number: ClaimNumber) {
    // It is due at once: the next look at the queue comes after a lost reply.
    let now = clock.now
    claims.withLock { $0.append(Claim(number: number, sent: now, lookedUp: now - Self.interval)) }
  }

  /// Removes claims whose jobs are known.
  func remove(_ known: [ClaimNumber]) { claims.withLock { $0.removeAll { known.contains($0.number) } } }

  var isEmpty: Bool { claims.withLock { $0.isEmpty } }

  /// The claims to look up now: each once a second.
  func due() -> [ClaimNumber] {
    let now = clock.now
    return claims.withLock { claims in
      claims.removeAll { now - $0.sent > Self.maxAge }
      return claims.indices.filter { now - claims[$0].lookedUp >= Self.interval }.map { index in
        claims[index].lookedUp = now
        return claims[index].number
      }
    }
  }
}
