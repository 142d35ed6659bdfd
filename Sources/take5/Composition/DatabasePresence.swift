import Platform
import Postgres

/// When the database was last seen to answer, be it with an error.
final class DatabasePresence: Sendable {
  /// An embedded server comes back within seconds, whoever owns it: one that is away for so long is waited for in vain.
  static let limit = Duration.seconds(60)

  private let lastSeen: Locked<ContinuousClock.Instant>

  init(at now: ContinuousClock.Instant) { lastSeen = Locked(now) }

  /// Notes what became of an attempt to ask it: no error, or which one.
  func note(_ error: (any Error)?, at now: ContinuousClock.Instant) {
    if let error {
      // What the server itself has said shows that it is there; of other errors nothing is known.
      guard let error = error as? PostgresError, error.kind == .server else { return }
    }
    lastSeen.withLock { $0 = now }
  }

  /// Whether it has been seen within the limit.
  func isRecent(at now: ContinuousClock.Instant) -> Bool {
    lastSeen.withLock { now - $0 <= Self.limit }
  }
}
