import Model

/// How long a job whose worker was lost waits for its next attempt.
package struct Recovery: Sendable, Hashable {
  /// One job that was taken from its worker.
  package struct Case: Sendable, Hashable {
    package let attempt: Attempt
    /// What was done to its worker.
    package let fault: FaultKind
    /// From the fault until it was taken, and from the end of the pause that was meant until the next claim; in seconds,
    /// without the time in which there was no database, or no room under the job's limit.
    package let untilTaken: Double
    package let untilClaimed: Double
  }

  /// The slowest last.
  package let cases: [Case]
  /// From the fault to the next claim, in order.
  package var seconds: [Double] { cases.map { $0.untilTaken + $0.untilClaimed } }
  /// Jobs that were taken from a worker to which nothing had been done lately, nor to the database.
  package let untouched: Int

  private static let losing: Set<FaultKind> = [.kill, .freeze, .halfOpen]
  // In microseconds.
  private static let recently: Int64 = 10_000_000

  package init(_ evidence: Evidence) {
    let attempts = Attempt.all(evidence.passages, fates: evidence.fatesByJob)
    var faults: [Int32: [(at: Int64, kind: FaultKind)]] = [:]
    for entry in evidence.ledger {
      guard case .fault(let kind, let process) = entry.event, Self.losing.contains(kind) else { continue }
      faults[process, default: []].append((entry.moment.wall, kind))
    }
    let touched = evidence.ledger.compactMap { entry -> (process: Int32, at: Int64)? in
      guard case .fault(_, let process) = entry.event else { return nil }
      return (process, entry.moment.wall)
    }
    let outages = Self.outages(evidence.ledger)
    let throttled = Self.throttled(evidence.passages)
    var cases: [Case] = []
    var untouched = 0
    for attempts in attempts.values {
      for (place, attempt) in attempts.enumerated() {
        guard let end = attempt.endedAt, let ending = attempt.ending, ending != .itself else { continue }
        let process = evidence.processes[attempt.worker] ?? 0
        // An attempt claimed after the fault, in the moment between it and its effect, counts from its claim.
        guard let fault = faults[process]?.last(where: { $0.at < end }) else {
          if !touched.contains(where: { [0, process].contains($0.process) && (end - Self.recently...end) ~= $0.at }) {
            untouched += 1
          }
          continue
        }
        let began = max(fault.at, attempt.claimedAt)
        var untilClaimed: Int64 = 0
        if case .taken(let runAt) = ending, place + 1 < attempts.count {
          untilClaimed = Self.time(
            from: max(runAt, end), to: attempts[place + 1].claimedAt, without: outages + (throttled[attempt.job] ?? []))
        }
        cases.append(
          Case(
            attempt: attempt, fault: fault.kind,
            untilTaken: Double(Self.time(from: began, to: end, without: outages)) / 1e6,
            untilClaimed: Double(untilClaimed) / 1e6))
      }
    }
    self.cases = cases.sorted { $0.untilTaken + $0.untilClaimed < $1.untilTaken + $1.untilClaimed }
    self.untouched = untouched
  }

  /// The value that the given share of all does not exceed; 0 if there are none.
  package func quantile(_ share: Double) -> Double {
    guard !seconds.isEmpty else { return 0 }
    return seconds[min(seconds.count - 1, Int((Double(seconds.count) * share).rounded(.up)) - 1)]
  }

  private static func time(from began: Int64, to end: Int64, without outages: [ClosedRange<Int64>]) -> Int64 {
    outages.reduce(max(0, end - began)) { $0 - max(0, min($1.upperBound, end) - max($1.lowerBound, began)) }
  }

  private static func throttled(_ passages: [Passage]) -> [PublicID: [ClosedRange<Int64>]] {
    var since: [PublicID: Int64] = [:]
    var throttled: [PublicID: [ClosedRange<Int64>]] = [:]
    for passage in passages {
      if passage.to == "p" { since[passage.job] = passage.at }
      if passage.from == "p", let began = since.removeValue(forKey: passage.job) {
        throttled[passage.job, default: []].append(began...max(began, passage.at))
      }
    }
    return throttled
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
