import Model

extension Check {
  /// Enqueued is done, dead or cancelled; nothing is left over, and what was ever intended came about.
  package static let nothingIsLost = Check(name: "nothing is lost") { evidence in
    let orders = Dictionary(evidence.orders.map { ($0.job, $0) }) { first, _ in first }
    let fates = Set(evidence.fates.map(\.job))
    var violations: [String] = []
    for order in evidence.orders where !order.isAbsorbed && !fates.contains(order.job) {
      violations.append("job \(order.job) was enqueued, and is nowhere")
    }
    for fate in evidence.fates where fate.place == .live {
      violations.append("job \(fate.job) is not over")
    }
    for entry in evidence.ledger {
      guard case .intended(let job) = entry.event, orders[job] == nil else { continue }
      violations.append("job \(job) was intended, and never enqueued")
    }
    return violations
  }

  /// No job is in two places, and none comes from nowhere.
  package static let nothingIsTwice = Check(name: "nothing is twice") { evidence in
    let ordered = Set(evidence.orders.filter { !$0.isAbsorbed }.map(\.job))
    let made = evidence.fates.filter { !$0.isOfCron }
    let counts = made.reduce(into: [:]) { $0[$1.job, default: 0] += 1 }
    return counts.filter { $0.value > 1 }.map { "job \($0.key) is there \($0.value) times" }.sorted()
      + counts.keys.filter { !ordered.contains($0) }.map { "job \($0) was never enqueued" }.sorted()
  }

  /// Whatever the calendar had due was fired once.
  package static let theCalendarIsKept = Check(name: "the calendar is kept") { evidence in
    let fired = evidence.fates.count { $0.isOfCron }
    return fired == evidence.firings ? [] : ["\(fired) jobs were made of \(evidence.firings) times that were due"]
  }

  /// A completed job has exactly one effect, of the attempt that completed it; no other has any.
  package static let effectsMatch = Check(name: "effects match") { evidence in
    var effects = Dictionary(grouping: evidence.effects, by: \.job)
    var violations: [String] = []
    for fate in evidence.fates {
      let found = effects.removeValue(forKey: fate.job) ?? []
      let wanted = fate.place == .completed ? [fate.token] : []
      guard found.map({ Optional($0.token) }) != wanted else { continue }
      violations.append("job \(fate.job), \(fate.place), has effects of \(found.map(\.token)) instead of \(wanted)")
    }
    return violations + effects.keys.map { "there is an effect of job \($0), which is nowhere" }.sorted()
  }

  /// What is dead had all its attempts, or took its workers with it.
  package static let theDeadHadTheirChance = Check(name: "the dead had their chance") { evidence in
    evidence.fates.filter { $0.place == .dead && $0.attempt < $0.maxAttempts && $0.lost < maxLost }.map { fate in
      "job \(fate.job) is dead after \(fate.attempt) of \(fate.maxAttempts) attempts and \(fate.lost) lost workers"
    }
  }

  /// The queue's own limit; told again here, so that a change of it is noticed.
  private static let maxLost = 3
}
