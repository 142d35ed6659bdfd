internal import Platform
internal import Push

/// The deliveries of a shard that are sent and have no outcome yet.
struct PushFlight {
  /// How many of them a server that a user names may have: the others of its shard do not wait for it.
  private static let maxOfForeignHost = 64
  /// The time for which what goes beyond that is put off, in seconds.
  private static let crowdedPause = 15

  let arrivals = Arrivals()
  private var deliveries: [Key: DueDelivery] = [:]
  private var ofHosts: [String: Int] = [:]

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
    if let host = due.foreignHost { ofHosts[host, default: 0] += 1 }
  }

  /// What becomes of a delivery to a server that has as many as it may have; nil: it has fewer.
  func crowded(_ due: DueDelivery, _ now: Int) -> PushEnding? {
    guard let host = due.foreignHost, ofHosts[host, default: 0] >= Self.maxOfForeignHost else { return nil }
    return PushEnding(due, until: now + Self.crowdedPause, "crowded", isAttempt: false)
  }

  /// Waits for outcomes, at most a second, and removes their deliveries.
  mutating func landed(
    at now: Int, _ ending: (DueDelivery, Outcome, Int) -> PushEnding
  ) async -> [PushEnding] {
    await arrivals.wake.wait(atMost: .seconds(1))
    return arrivals.take().map { due, outcome in
      deliveries[Key(device: due.device, position: due.position)] = nil
      if let host = due.foreignHost {
        let rest = ofHosts[host, default: 1] - 1
        ofHosts[host] = rest > 0 ? rest : nil
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
