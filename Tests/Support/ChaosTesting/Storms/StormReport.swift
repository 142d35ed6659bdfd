/// The result of a storm over the queue.
package struct StormReport: Sendable {
  package let violations: [String]
  /// The names and values of the figures.
  package let figures: [(name: String, value: String)]
  /// The slowest recoveries, for diagnosis.
  package let slowest: [String]

  init(
    configuration: Storm.Configuration, faults: FaultCounts, duration: Duration, violations: [String],
    evidence: Evidence, timing: ChaosTiming
  ) {
    let recovery = Recovery(evidence)
    let overrun = Overrun(evidence)
    let attempts = Attempt.all(evidence.transitions, outcomes: evidence.outcomesByJob).values.reduce(0) {
      $0 + $1.count
    }
    // The time within which a job must be reaped from a lost worker, in seconds.
    let bound = (timing.lease + timing.reapInterval) / .seconds(1)
    let (p50, p99) = (recovery.quantile(0.5), recovery.quantile(0.99))
    let jobs = evidence.outcomes.count

    var violations = violations
    if jobs < configuration.jobs { violations.append("only \(jobs) jobs were enqueued") }
    if faults.total < configuration.faults { violations.append("only \(faults.total) faults happened") }
    if p99 > bound { violations.append("recovery took \(p99) s at p99, more than \(bound) s") }
    self.violations = violations

    let states = [
      (JobOutcome.State.completed, "completed"), (.rejected, "rejected"), (.cancelled, "cancelled"), (.dead, "dead"),
      (.unfinished, "unfinished"),
    ].map { state, title in "\(evidence.outcomes.count { $0.state == state }) \(title)" }
    figures = [
      (
        "jobs",
        "\(jobs), and \(evidence.orders.count { $0.isAbsorbed }) replaced by a live job with the same unique key"
      ),
      ("outcomes", states.joined(separator: ", ")),
      ("effects", "\(evidence.effects.count)"),
      ("attempts", "\(attempts), of which \(recovery.cases.count) were lost with their worker"),
      ("faults", "\(faults)"),
      (
        "from a fault to the next attempt",
        "p50 \(Self.text(p50)) s, p99 \(Self.text(p99)) s; the lease plus the reap interval is \(Self.text(bound)) s"
      ),
      (
        "handlers that continued after their lease was lost",
        "\(overrun.frozen) in frozen processes, \(overrun.running) in others"
      ),
      ("duration", "\(Int(duration / .seconds(1))) s"),
      ("lost or done twice", violations.isEmpty ? "none" : "\(violations.count) violations"),
    ]
    slowest = recovery.cases.suffix(8).map { slow in
      let (reaped, claimed) = (Self.text(slow.untilReaped), Self.text(slow.untilClaimed))
      return "\(slow.attempt.job) after \(slow.fault.rawValue): reaped after \(reaped) s, claimed \(claimed) s later"
    }
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100)" }
}
