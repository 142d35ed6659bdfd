import Model

/// An invariant that must hold after every run.
struct Check: Sendable {
  let name: String
  /// Returns the violations in the evidence of a run, one sentence each.
  let violations: @Sendable (Evidence) -> [String]

  /// All checks.
  static let all: [Check] = [
    .noJobIsLost, .noJobIsDuplicated, .effectsMatch, .attemptsDoNotOverlap, .noJobStartsEarly,
    .acknowledgementsHold, .deadJobsUsedTheirAttempts, .nothingWaits,
  ]

  /// The violations of all checks, each with the name of its check.
  static func violations(in evidence: Evidence) -> [String] {
    all.flatMap { check in check.violations(evidence).map { "\(check.name): \($0)" } }
  }
}

extension Check {
  /// Every enqueued job is completed, rejected, cancelled or dead, and every intended job was enqueued.
  static let noJobIsLost = Check(name: "no job is lost") { evidence in
    let orders = Dictionary(evidence.orders.map { ($0.job, $0) }) { first, _ in first }
    let outcomes = Set(evidence.outcomes.map(\.job))
    var violations: [String] = []
    for order in evidence.orders where !order.isAbsorbed && !outcomes.contains(order.job) {
      violations.append("job \(order.job) was enqueued and does not exist")
    }
    for outcome in evidence.outcomes where outcome.state == .unfinished {
      violations.append("job \(outcome.job) is unfinished")
    }
    for entry in evidence.ledger {
      guard case .intended(let job) = entry.event, orders[job] == nil else { continue }
      violations.append("job \(job) was intended and not enqueued")
    }
    return violations
  }

  /// No job exists twice, and every job was enqueued.
  static let noJobIsDuplicated = Check(name: "no job is duplicated") { evidence in
    let ordered = Set(evidence.orders.filter { !$0.isAbsorbed }.map(\.job))
    let counts = evidence.outcomes.reduce(into: [:]) { $0[$1.job, default: 0] += 1 }
    return counts.filter { $0.value > 1 }.map { "job \($0.key) exists \($0.value) times" }.sorted()
      + counts.keys.filter { !ordered.contains($0) }.map { "job \($0) was not enqueued" }.sorted()
  }

  /// A completed job has exactly one effect, of the attempt that completed it; no other job has one.
  static let effectsMatch = Check(name: "effects match") { evidence in
    var effects = Dictionary(grouping: evidence.effects, by: \.job)
    var violations: [String] = []
    for outcome in evidence.outcomes {
      let found = effects.removeValue(forKey: outcome.job) ?? []
      let expected = outcome.state == .completed ? [outcome.token] : []
      guard found.map({ Optional($0.token) }) != expected else { continue }
      violations.append(
        "job \(outcome.job), \(outcome.state), has effects of \(found.map(\.token)) instead of \(expected)")
    }
    return violations + effects.keys.map { "job \($0) has an effect and does not exist" }.sorted()
  }

  /// Every dead job had all its attempts, or lost its maximum number of workers.
  static let deadJobsUsedTheirAttempts = Check(name: "dead jobs used their attempts") { evidence in
    evidence.outcomes.filter { $0.state == .dead && $0.attempt < $0.maxAttempts && $0.lost < maxLost }.map { outcome in
      "job \(outcome.job) is dead after \(outcome.attempt) of \(outcome.maxAttempts) attempts and "
        + "\(outcome.lost) lost workers"
    }
  }

  /// No table has rows that something waits for.
  static let nothingWaits = Check(name: "nothing waits") { $0.waiting }

  /// The limit of the queue, repeated here so that a change of it is noticed.
  private static let maxLost = 3
}

extension Check {
  /// No two attempts at a job have authority at the same time, and every started attempt was claimed.
  static let attemptsDoNotOverlap = Check(name: "attempts do not overlap") { evidence in
    let attempts = Attempt.all(evidence.transitions, outcomes: evidence.outcomesByJob)
    var violations: [String] = []
    for (job, attempts) in attempts {
      for (earlier, later) in zip(attempts, attempts.dropFirst()) {
        guard let end = earlier.endedAt, end <= later.claimedAt else {
          violations.append("job \(job): attempts \(earlier.token) and \(later.token) had authority at the same time")
          continue
        }
      }
      let tokens = attempts.map(\.token)
      if Set(tokens).count < tokens.count { violations.append("job \(job): two attempts have the same token") }
    }
    for entry in evidence.ledger {
      guard case .started(let job, let token, _) = entry.event else { continue }
      if attempts[job]?.contains(where: { $0.token == token }) != true {
        violations.append("job \(job): attempt \(token) started and was not claimed")
      }
    }
    return violations.sorted()
  }

  /// No job becomes available before its time by the database's clock.
  static let noJobStartsEarly = Check(name: "no job starts early") { evidence in
    evidence.transitions.filter { $0.from == "s" && $0.to != nil && $0.at < $0.runAt - tolerance }.map { transition in
      "job \(transition.job) became available \(transition.runAt - transition.at) microseconds before its time"
    }
  }

  /// In microseconds: `retryNow` sets a time that is before the time that the trigger records.
  private static let tolerance: Int64 = 1000

  /// Every change that the database acknowledged exists at the end.
  static let acknowledgementsHold = Check(name: "acknowledgements hold") { evidence in
    let orders = Dictionary(evidence.orders.map { ($0.job, $0) }) { first, _ in first }
    let outcomes = evidence.outcomesByJob
    return evidence.ledger.compactMap { entry in
      switch entry.event {
      case .enqueued(let job) where orders[job].map(\.isAbsorbed) != false:
        "job \(job) was acknowledged and is not enqueued"
      case .absorbed(let job) where orders[job].map(\.isAbsorbed) != true:
        "job \(job) was acknowledged and is not absorbed"
      case .cancelled(let job) where outcomes[job]?.state != .cancelled:
        "job \(job) was acknowledged and is not cancelled"
      case .committed(let job, let token) where outcomes[job]?.token != token:
        "job \(job) was acknowledged and is not ended by attempt \(token)"
      default: nil
      }
    }
  }
}

extension Evidence {
  /// The outcomes, by job.
  var outcomesByJob: [PublicID: JobOutcome] {
    Dictionary(outcomes.map { ($0.job, $0) }) { first, _ in first }
  }
}
