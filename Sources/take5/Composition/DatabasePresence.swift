import Platform

/// When the database was last seen to answer, be it that it takes no connections yet.
final class DatabasePresence: Sendable {
  /// An embedded server comes back within seconds, whoever owns it: one that is away for so long is waited for in vain.
  static let limit = Duration.seconds(60)

  private let lastSeen: Locked<ContinuousClock.Instant>

  init(at now: ContinuousClock.Instant) { lastSeen = Locked(now) }

  /// It has answered.
  func note(at now: ContinuousClock.Instant) { lastSeen.withLock { $0 = now } }

  /// Whether it has been seen within the limit.
  func isRecent(at now: ContinuousClock.Instant) -> Bool {
    lastSeen.withLock { now - $0 <= Self.limit }
  }
}
