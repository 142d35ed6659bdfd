import Platform

/// What came of a storm.
package struct StormReport: Sendable {
  package let configuration: StormConfiguration
  package let faults: [FaultKind: Int]
  package let duration: Duration
  /// Empty when all is well.
  package let violations: [String]
  package let places: [JobFate.Place: Int]
  package let absorbed: Int
  package let effects: Int
  package let attempts: Int
  package let recovery: Recovery
  package let overrun: Overrun
  /// Within which a job is to be taken from a lost worker, in seconds.
  package let bound: Double

  init(
    configuration: StormConfiguration, faults: [FaultKind: Int], duration: Duration, violations: [String],
    evidence: Evidence, times: ChaosTimes
  ) {
    self.configuration = configuration
    self.faults = faults
    self.duration = duration
    places = evidence.fates.reduce(into: [:]) { $0[$1.place, default: 0] += 1 }
    absorbed = evidence.orders.count { $0.isAbsorbed }
    effects = evidence.effects.count
    attempts = Attempt.all(evidence.passages, fates: evidence.fatesByJob).values.reduce(0) { $0 + $1.count }
    recovery = Recovery(evidence)
    overrun = Overrun(evidence)
    bound = (times.lease + times.reap) / .seconds(1)
    var violations = violations
    let done = evidence.fates.count
    if done < configuration.jobs { violations.append("only \(done) jobs were enqueued") }
    let count = faults.values.reduce(0, +)
    if count < configuration.faults { violations.append("only \(count) faults happened") }
    if recovery.quantile(0.99) > bound {
      violations.append("recovery took \(recovery.quantile(0.99)) s at p99, more than \(bound) s")
    }
    self.violations = violations
  }

  /// What it came to, a name and a value each.
  package var figures: [(name: String, value: String)] {
    let kinds = FaultKind.allCases.compactMap { kind in faults[kind].map { "\($0) \(kind.title)" } }.joined(
      separator: ", ")
    let ends = [
      "\(places[.completed] ?? 0) completed", "\(places[.rejected] ?? 0) rejected",
      "\(places[.cancelled] ?? 0) cancelled", "\(places[.dead] ?? 0) dead", "\(places[.live] ?? 0) left over",
    ]
    let (p50, p99) = (Self.text(recovery.quantile(0.5)), Self.text(recovery.quantile(0.99)))
    return [
      ("jobs", "\(places.values.reduce(0, +)), beside \(absorbed) that a live job's key stood for"),
      ("how they ended", ends.joined(separator: ", ")),
      ("effects", "\(effects)"),
      ("attempts", "\(attempts), of which \(recovery.cases.count) were lost with their worker"),
      ("faults", "\(faults.values.reduce(0, +)): \(kinds)"),
      (
        "from a fault to the next attempt",
        "p50 \(p50) s, p99 \(p99) s; lease and reap interval together are \(Self.text(bound)) s"
      ),
      (
        "handlers that went on after their lease was lost",
        "\(overrun.frozen) in frozen processes, \(overrun.awake) in others"
      ),
      ("duration", "\(Int(duration / .seconds(1))) s"),
      ("lost, or done twice", violations.isEmpty ? "none" : "\(violations.count) violations"),
    ]
  }

  /// The slowest recoveries, for who looks into them.
  package var slowest: [String] {
    recovery.cases.suffix(8).map { slow in
      let (taken, claimed) = (Self.text(slow.untilTaken), Self.text(slow.untilClaimed))
      return "\(slow.attempt.job) after \(slow.fault.rawValue): taken after \(taken) s, claimed \(claimed) s later"
    }
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100)" }
}
