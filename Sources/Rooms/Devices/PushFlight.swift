import Glibc
internal import Platform
internal import Push

/// The deliveries of a shard that are sent and have no outcome yet.
struct PushFlight {
  /// How many of them the server of subscriptions may have: the others of its shard do not wait for it.
  static let maxOfHost = 64
  /// That of one which has responded in this turn.
  private static let maxOfHostThatResponds = 256
  /// The time for which what goes beyond that is put off, in seconds, and that for a server which responds.
  private static let (crowdedPause, shortPause) = (15, 1)

  let arrivals = Arrivals()
  private var deliveries: [Key: DueDelivery] = [:]
  private var ofHosts: [String: Int] = [:]
  private var responding: Set<String> = []

  private struct Key: Hashable {
    let device: Int64
    let position: Int64
  }

  var count: Int { deliveries.count }
  var isEmpty: Bool { deliveries.isEmpty }
  /// The devices and the positions.
  var keys: DueDelivery.Sent {
    let keys = Array(deliveries.keys)
    return (keys.map(\.device), keys.map(\.position))
  }

  mutating func add(_ due: DueDelivery) {
    deliveries[Key(device: due.device, position: due.position)] = due
    if let host = due.host { ofHosts[host, default: 0] += 1 }
  }

  /// What becomes of a delivery to a server that has as many as it may have; nil: it has fewer.
  func crowded(_ due: DueDelivery, _ now: Int) -> PushEnding? {
    guard let host = due.host else { return nil }
    let responds = responding.contains(host)
    guard ofHosts[host, default: 0] >= (responds ? Self.maxOfHostThatResponds : Self.maxOfHost) else { return nil }
    return PushEnding(due, until: now + (responds ? Self.shortPause : Self.crowdedPause), "crowded", isAttempt: false)
  }

  /// Waits for outcomes, at most a second, and removes their deliveries.
  mutating func landed(_ ending: (DueDelivery, Outcome, Int) -> PushEnding) async -> [PushEnding] {
    await arrivals.wake.wait(atMost: .seconds(1))
    let now = time(nil)
    return arrivals.take().map { due, outcome in
      deliveries[Key(device: due.device, position: due.position)] = nil
      if let host = due.host {
        let rest = ofHosts[host, default: 1] - 1
        ofHosts[host] = rest > 0 ? rest : nil
        if case .delivered = outcome { responding.insert(host) }
      }
      return ending(due, outcome, now)
    }
  }

  /// The outcomes that are not recorded yet.
  final class Arrivals: Sendable {
    private let outcomes = Locked<[(DueDelivery, Outcome)]>([])
    let wake = WakeUp()

    func add(_ due: DueDelivery, _ outcome: Outcome) {
      outcomes.withLock { $0.append((due, outcome)) }
      wake.raise()
    }

    func take() -> [(DueDelivery, Outcome)] {
      outcomes.withLock { outcomes in
        defer { outcomes = [] }
        return outcomes
      }
    }
  }
}
