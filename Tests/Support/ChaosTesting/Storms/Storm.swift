import Glibc
import Platform
import Postgres
import SeededRandom

/// A storm over the queue: faults are injected into workers, producers and the server while many jobs run.
package struct Storm: Sendable {
  /// The seed of all decisions; the same seed makes the same decisions in the same order.
  package var seed: UInt64
  /// The minimum number of enqueued jobs.
  package var jobs = 20_000
  /// The minimum number of faults.
  package var faults = 300

  private static let workers = 6
  private static let producers = 3
  /// The number of live jobs above which producers wait.
  private static let maxLive = 20
  /// The maximum number of jobs of one transaction.
  private static let maxBatch = 40
  /// The pause between two faults, in milliseconds.
  private static let pause = 100...1100
  /// The time after which a storm ends before it is complete.
  private static let timeLimit = Duration.seconds(900)

  package init(seed: UInt64) { self.seed = seed }

  /// Runs the storm and checks the result.
  ///
  /// - Parameters:
  ///   - run: a new run.
  ///   - report: receives the progress.
  package func run(on run: ChaosRun, _ report: @Sendable (String) -> Void = { _ in }) async throws -> StormReport {
    let startTime = ContinuousClock.now
    var random = SplitMix64(seed: seed)
    let fleet = Fleet(run, lease: run.timing.lease, seed: random.next()) { role, random, _ in
      let points = role == .worker ? Matrix.workerFailpoints : Matrix.producerFailpoints
      return random.failpoint(of: points, upTo: 20, killsInTen: 3, stopsInTen: 2)
    }
    await fleet.setFailing(true)
    for number in 1...Self.workers {
      try await fleet.add(.worker, number) { try run.worker($0.name, failpoints: $0.failpoints) }
    }
    for number in 1...Self.producers {
      try await fleet.add(.producer, number) { start in
        try run.producer(
          start.name, jobs: start.isLast ? 0 : .max, batch: Self.maxBatch, live: Self.maxLive,
          seed: seed &+ UInt64(number * 1000 + start.generation), failpoints: start.failpoints,
          predecessor: start.predecessor)
      }
    }
    var enqueued = 0
    var reportTime = startTime
    while await fleet.faults.total < faults || enqueued < jobs {
      guard startTime.duration(to: .now) < Self.timeLimit else { break }
      try await Task.sleep(for: .milliseconds(Int.random(in: Self.pause, using: &random)))
      try await fleet.inject(Self.fault(&random))
      guard reportTime.duration(to: .now) > .seconds(10) else { continue }
      reportTime = .now
      enqueued = await run.count("ordered_jobs") ?? enqueued
      let count = await fleet.faults.total
      report("\(Int(startTime.duration(to: reportTime) / .seconds(1))) s: \(enqueued) jobs, \(count) faults")
    }
    try await fleet.repair()
    var violations = try await fleet.end([.producer], within: .seconds(60))
    if !(await run.isFinished(within: .seconds(120))) { violations.append("jobs did not finish") }
    violations += try await fleet.end([.worker], within: .seconds(30))
    let evidence = try await run.evidence()
    violations += Check.violations(in: evidence)
    return await result(evidence, fleet.faults, run.timing, since: startTime, violations: violations, report)
  }

  private static func fault(_ random: inout SplitMix64) -> FaultKind {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<25: .kill
    case ..<45: .freeze
    case ..<60: .terminate
    case ..<75: .halfOpen
    case ..<87: .cut
    case ..<94: .drain
    default: .crash
    }
  }

  private func result(
    _ evidence: Evidence, _ counts: FaultCounts, _ timing: ChaosTiming, since start: ContinuousClock.Instant,
    violations: [String], _ report: @Sendable (String) -> Void
  ) -> StormReport {
    let recovery = Recovery(evidence)
    let overrun = Overrun(evidence)
    let attempts = Attempt.all(evidence.transitions, outcomes: evidence.outcomesByJob).values.joined().count
    // The time within which a job must be reaped from a lost worker, in seconds.
    let bound = (timing.lease + timing.reapInterval) / .seconds(1)
    let (p50, p99) = (recovery.quantile(0.5), recovery.quantile(0.99))
    let enqueued = evidence.outcomes.count
    let absorbed = evidence.orders.count { $0.isAbsorbed }

    var violations = violations
    if enqueued < jobs { violations.append("only \(enqueued) jobs were enqueued") }
    if counts.total < faults { violations.append("only \(counts.total) faults happened") }
    if p99 > bound { violations.append("recovery took \(p99) s at p99, more than \(bound) s") }
    for slow in recovery.cases.suffix(violations.isEmpty ? 0 : 8) {
      let (reaped, claimed) = (Self.text(slow.untilReaped), Self.text(slow.untilClaimed))
      report("\(slow.attempt.job) after \(slow.fault): reaped after \(reaped) s, claimed \(claimed) s later")
    }
    let states = JobOutcome.State.allCases.map { state in "\(evidence.outcomes.count { $0.state == state }) \(state)" }
    return StormReport(
      [
        ("jobs", "\(enqueued), and \(absorbed) replaced by a live job with the same unique key"),
        ("outcomes", states.joined(separator: ", ")), ("effects", "\(evidence.effects.count)"),
        ("attempts", "\(attempts), of which \(recovery.cases.count) were lost with their worker"),
        ("faults", "\(counts)"),
        (
          "from a fault to the next attempt",
          "p50 \(Self.text(p50)) s, p99 \(Self.text(p99)) s; the lease plus the reap interval is \(Self.text(bound)) s"
        ),
        (
          "handlers that continued after their lease was lost",
          "\(overrun.frozen) in frozen processes, \(overrun.running) in others"
        ),
      ], since: start, "lost or done twice", violations)
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100)" }
}
