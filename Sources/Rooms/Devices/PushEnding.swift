internal import Postgres

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

  let due: DueDelivery
  let fate: Fate
  /// As it is counted.
  let outcome: String

  init(_ due: DueDelivery, _ fate: Fate, _ outcome: String) {
    (self.due, self.fate, self.outcome) = (due, fate, outcome)
  }

  /// What is to be sent after a time; it expires if that is too late.
  init(_ due: DueDelivery, until time: Int, _ outcome: String, isAttempt: Bool = true) {
    if time < due.expires {
      self.init(due, .postponed(until: time, isAttempt: isAttempt), outcome)
    } else {
      self.init(due, .ended, "expired")
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
        .integers(postponed.map(\.attempts)))
    }
    try session.execute(
      Devices.statements["note_outcomes"], .integers(endings.map(\.due.device)), .texts(endings.map(\.outcome)))
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
