internal import Postgres
internal import Push

/// What becomes of a delivery.
struct PushEnding: Sendable {
  enum Fate: Sendable {
    case ended
    /// Until a time in seconds since 1970-01-01 UTC.
    case postponed(until: Int, isAttempt: Bool)
    /// The device goes, unless it was registered later than this time, in the same.
    case gone(since: Int?)
    /// The device goes after some of them.
    case refused
  }

  /// The time for which a provider gets nothing after it has refused the credentials, in seconds.
  static let credentialPause = 60
  /// The longest pause before a notification is sent again, unless the provider asks for a longer one, in seconds.
  private static let maxPause = 600

  let due: DueDelivery
  let fate: Fate
  /// As it is counted.
  let outcome: String
  /// How many acts a delivery stands for that is postponed.
  private let acts: Int64

  init(_ due: DueDelivery, _ fate: Fate, _ outcome: String, acts: Int64? = nil) {
    (self.due, self.fate, self.outcome, self.acts) = (due, fate, outcome, acts ?? due.acts)
  }

  /// What is to be sent after a time; it expires if that is too late.
  ///
  /// - Parameter acts: nil: those of itself.
  init(_ due: DueDelivery, until time: Int, _ outcome: String, isAttempt: Bool = true, acts: Int64? = nil) {
    if time < due.expires {
      self.init(due, .postponed(until: time, isAttempt: isAttempt), outcome, acts: acts)
    } else {
      self.init(due, .ended, "expired")
    }
  }

  /// What becomes of a delivery by the provider's response.
  ///
  /// - Parameter now: in seconds since 1970-01-01 UTC.
  init(_ due: DueDelivery, _ outcome: Outcome, now: Int) {
    // What it was folded with has ended.
    let pause = min(1 << min(due.attempts, 10), Self.maxPause)
    switch outcome {
    case .delivered: self.init(due, .ended, "delivered")
    case .gone(let since): self.init(due, .gone(since: since), "gone")
    case .deviceRefused: self.init(due, .refused, "device_refused")
    case .retry(let seconds, _): self.init(due, until: now + max(seconds ?? 0, pause), "retried", acts: due.count)
    case .unknown: self.init(due, until: now + pause, "unknown", acts: due.count)
    case .credentialsRefused, .authorizationExpired:
      // A server that a user names refuses its own subscription by it. Elsewhere the operator mends it, and the device stays.
      if due.platform.type.isOfBrowsers {
        self.init(due, .refused, "device_refused")
      } else {
        self.init(
          due, until: now + Self.credentialPause, "credentials_refused", isAttempt: false, acts: due.count)
      }
    case .refused: self.init(due, .ended, "refused")
    case .expired: self.init(due, .ended, "expired")
    }
  }

  /// Records endings, in the transaction of the caller's.
  static func record(_ endings: [PushEnding], maxRefusals: Int, _ session: Session) throws {
    var (ended, postponed): ([PushEnding], [(PushEnding, until: Int, attempts: Int64)]) = ([], [])
    var (gone, refused): ([(PushEnding, since: Int?)], [PushEnding]) = ([], [])
    for ending in endings {
      switch ending.fate {
      case .ended: ended.append(ending)
      case .postponed(let time, let isAttempt): postponed.append((ending, time, isAttempt ? 1 : 0))
      case .gone(let since):
        ended.append(ending)
        gone.append((ending, since))
      case .refused:
        ended.append(ending)
        refused.append(ending)
      }
    }
    try session.execute(
      Devices.statements["drop_deliveries"], .integers(ended.map(\.due.device)), .integers(ended.map(\.due.position)))
    if !postponed.isEmpty {
      try session.execute(
        Devices.statements["postpone_deliveries"], .integers(postponed.map(\.0.due.device)),
        .integers(postponed.map(\.0.due.position)), .integers(postponed.map { Int64($0.until) }),
        .integers(postponed.map(\.attempts)), .integers(postponed.map(\.0.acts)))
      // The dispatcher knows only what was due when it looked.
      try Events.wake(session)
    }
    try session.execute(
      Devices.statements["note_outcomes"], .integers(endings.map(\.due.device)), .texts(endings.map(\.outcome)))
    let reached = Set(endings.filter { $0.outcome == "delivered" }.map(\.due.platform.name)).sorted()
    if !reached.isEmpty { try session.execute(Devices.statements["note_reached"], .texts(reached)) }
    if !gone.isEmpty {
      try session.execute(
        Devices.statements["drop_gone_devices"], .integers(gone.map(\.0.due.device)),
        .integers(gone.map { $0.since.map(Int64.init) }))
    }
    if !refused.isEmpty {
      try session.execute(
        Devices.statements["drop_refused_devices"], .integers(refused.map(\.due.device)), .integer(maxRefusals))
    }
  }
}
