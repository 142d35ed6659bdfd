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

  /// For a reader.
  package var lines: [String] {
    let kinds = FaultKind.allCases.map { "\(faults[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
    return [
      "seed: \(configuration.seed)",
      "jobs: \(places.values.reduce(0, +)), and \(absorbed) absorbed by their unique keys",
      "ends: \(places[.completed] ?? 0) completed, \(places[.rejected] ?? 0) rejected, \(places[.cancelled] ?? 0) cancelled, "
        + "\(places[.dead] ?? 0) dead, \(places[.live] ?? 0) live",
      "effects: \(effects)",
      "attempts: \(attempts), \(recovery.seconds.count) of them lost with their worker, \(recovery.untouched) without a fault",
      "faults: \(faults.values.reduce(0, +)): \(kinds)",
      "recovery: p50 \(Self.text(recovery.quantile(0.5))) s, p99 \(Self.text(recovery.quantile(0.99))) s, "
        + "longest \(Self.text(recovery.seconds.last ?? 0)) s; lease and reap interval \(Self.text(bound)) s",
      "handlers that went on without authority: \(overrun.frozen) frozen, \(overrun.awake) awake, "
        + "the longest \(Self.text(overrun.longest)) s",
      "duration: \(Int(duration / .seconds(1))) s",
      violations.isEmpty ? "nothing was lost, nothing was done twice" : "VIOLATIONS: \(violations.count)",
    ] + violations.prefix(50)
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
