import Model

/// The times from the loss of a worker to the next attempts at its jobs.
struct Recovery: Sendable, Hashable {
  /// One attempt whose job was reaped.
  struct Case: Sendable, Hashable {
    let attempt: Attempt
    /// The fault of its worker.
    let fault: FaultKind
    /// The time from the fault until the job was reaped, in seconds, without outages of the database.
    let untilReaped: Double
    /// The time from the end of the intended pause until the next claim, in seconds, without outages of the database
    /// and without the time in which the job was throttled.
    let untilClaimed: Double
  }

  /// The cases, the slowest last.
  let cases: [Case]
  /// The times from the faults to the next claims, in ascending order.
  var seconds: [Double] { cases.map { $0.untilReaped + $0.untilClaimed } }

  /// The faults that cost a worker its lease.
  private static let faultsOfLeases: Set<FaultKind> = [.kill, .freeze, .halfOpen]

  init(_ evidence: Evidence) {
    let attempts = Attempt.all(evidence.transitions, outcomes: evidence.outcomesByJob)
    var faults: [Int32: [(at: Int64, kind: FaultKind)]] = [:]
    for entry in evidence.ledger {
      guard case .fault(let kind, let process) = entry.event, Self.faultsOfLeases.contains(kind) else { continue }
      faults[process, default: []].append((entry.time.wall, kind))
    }
    let outages = Self.outages(evidence.ledger)
    let throttled = Self.throttled(evidence.transitions)
    var cases: [Case] = []
    for attempts in attempts.values {
      for (index, attempt) in attempts.enumerated() {
        guard let end = attempt.endedAt, let ending = attempt.ending, ending != .own else { continue }
        let process = evidence.processes[attempt.worker] ?? 0
        guard let fault = faults[process]?.last(where: { $0.at < end }) else { continue }
        // The time of an attempt that was claimed between the fault and its effect starts with the claim.
        let start = max(fault.at, attempt.claimedAt)
        var untilClaimed: Int64 = 0
        if case .reaped(let runAt) = ending, index + 1 < attempts.count {
          untilClaimed = Self.time(
            from: max(runAt, end), to: attempts[index + 1].claimedAt, without: outages + (throttled[attempt.job] ?? []))
        }
        cases.append(
          Case(
            attempt: attempt, fault: fault.kind,
            untilReaped: Double(Self.time(from: start, to: end, without: outages)) / 1e6,
            untilClaimed: Double(untilClaimed) / 1e6))
      }
    }
    self.cases = cases.sorted { $0.untilReaped + $0.untilClaimed < $1.untilReaped + $1.untilClaimed }
  }

  /// The quantile of `seconds` at `fraction`; 0 if there are no cases.
  func quantile(_ fraction: Double) -> Double {
    guard !seconds.isEmpty else { return 0 }
    return seconds[min(seconds.count - 1, Int((Double(seconds.count) * fraction).rounded(.up)) - 1)]
  }

  private static func time(from start: Int64, to end: Int64, without outages: [ClosedRange<Int64>]) -> Int64 {
    outages.reduce(max(0, end - start)) { $0 - max(0, min($1.upperBound, end) - max($1.lowerBound, start)) }
  }

  private static func throttled(_ transitions: [Transition]) -> [PublicID: [ClosedRange<Int64>]] {
    var since: [PublicID: Int64] = [:]
    var throttled: [PublicID: [ClosedRange<Int64>]] = [:]
    for transition in transitions {
      if transition.to == "p" { since[transition.job] = transition.at }
      if transition.from == "p", let start = since.removeValue(forKey: transition.job) {
        throttled[transition.job, default: []].append(start...max(start, transition.at))
      }
    }
    return throttled
  }

  private static func outages(_ ledger: [LedgerEntry]) -> [ClosedRange<Int64>] {
    var outages: [ClosedRange<Int64>] = []
    var since: Int64?
    for entry in ledger {
      switch entry.event {
      case .fault(.crash, _): since = entry.time.wall
      case .repaired(.crash, _):
        if let start = since { outages.append(start...max(start, entry.time.wall)) }
        since = nil
      default: break
      }
    }
    return outages
  }
}

/// The numbers of handlers that continued after their attempt had lost its authority.
struct Overrun: Sendable, Hashable {
  /// Handlers of processes that had been frozen, and could not know that the lease was lost.
  let frozen: Int
  /// Handlers of other processes.
  let running: Int

  init(_ evidence: Evidence) {
    let attempts = Attempt.all(evidence.transitions, outcomes: evidence.outcomesByJob)
    var ends: [Int64: Int64] = [:]
    for attempt in attempts.values.joined() where attempt.ending != .own { ends[attempt.token] = attempt.endedAt }
    var freezes: [Int32: [Int64]] = [:]
    for entry in evidence.ledger {
      if case .fault(.freeze, let process) = entry.event { freezes[process, default: []].append(entry.time.wall) }
    }
    var frozen = 0
    var running = 0
    for entry in evidence.ledger {
      guard case .returned(_, let token) = entry.event, let end = ends[token], entry.time.wall > end else { continue }
      if freezes[entry.process]?.contains(where: { $0 < end }) == true {
        frozen += 1
      } else {
        running += 1
      }
    }
    self.frozen = frozen
    self.running = running
  }
}
