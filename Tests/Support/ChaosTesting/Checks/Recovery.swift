/// How long a job whose worker was lost waits for its next attempt.
package struct Recovery: Sendable, Hashable {
  /// From the fault to the next claim, in seconds, without the pause that the queue means to make and without the time in
  /// which there was no database; in order.
  package let seconds: [Double]
  /// Jobs that were taken from a worker to which nothing had been done.
  package let untouched: Int

  private static let losing: Set<FaultKind> = [.kill, .freeze, .halfOpen]

  package init(_ evidence: Evidence) {
    let attempts = Attempt.all(evidence.passages, fates: evidence.fatesByJob)
    var faults: [Int32: [Int64]] = [:]
    for entry in evidence.ledger {
      guard case .fault(let kind, let process) = entry.event, Self.losing.contains(kind) else { continue }
      faults[process, default: []].append(entry.moment.wall)
    }
    let outages = Self.outages(evidence.ledger)
    var seconds: [Double] = []
    var untouched = 0
    for attempts in attempts.values {
      for (place, attempt) in attempts.enumerated() {
        guard let end = attempt.endedAt, let ending = attempt.ending, ending != .itself else { continue }
        let process = evidence.processes[attempt.worker] ?? 0
        // An attempt claimed after the fault, in the moment between it and its effect, counts from its claim.
        guard let fault = faults[process]?.last(where: { $0 < end }) else {
          untouched += 1
          continue
        }
        let began = max(fault, attempt.claimedAt)
        var waited = end - began
        var until = end
        if case .taken(let runAt) = ending, place + 1 < attempts.count {
          until = attempts[place + 1].claimedAt
          waited += until - max(runAt, end)
        }
        waited -= outages.reduce(0) { $0 + max(0, min($1.upperBound, until) - max($1.lowerBound, began)) }
        seconds.append(Double(waited) / 1e6)
      }
    }
    self.seconds = seconds.sorted()
    self.untouched = untouched
  }

  /// The value that the given share of all does not exceed; 0 if there are none.
  package func quantile(_ share: Double) -> Double {
    guard !seconds.isEmpty else { return 0 }
    return seconds[min(seconds.count - 1, Int((Double(seconds.count) * share).rounded(.up)) - 1)]
  }

  private static func outages(_ ledger: [LedgerEntry]) -> [ClosedRange<Int64>] {
    var outages: [ClosedRange<Int64>] = []
    var since: Int64?
    for entry in ledger {
      switch entry.event {
      case .fault(.crash, _): since = entry.moment.wall
      case .relief(.crash, _):
        if let began = since { outages.append(began...max(began, entry.moment.wall)) }
        since = nil
      default: break
      }
    }
    return outages
  }
}
