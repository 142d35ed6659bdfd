import Glibc
import Platform
import Postgres
import SeededRandom

/// A storm over the queue: faults are injected into workers, producers and the server while many jobs run.
package actor Storm {
  /// The size of a storm.
  package struct Configuration: Sendable {
    /// The seed of all decisions; the same seed makes the same decisions in the same order.
    package var seed: UInt64
    /// The minimum number of enqueued jobs.
    package var jobs = 20_000
    /// The minimum number of faults.
    package var faults = 300

    package init(seed: UInt64) { self.seed = seed }
  }

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

  private let configuration: Configuration
  private let run: ChaosRun
  private var random: SplitMix64
  private var slots: [ProcessSlot] = []
  /// The tasks that end faults.
  private var repairs: [Task<Void, any Error>] = []
  private var faults = FaultCounts()
  private var isFinishing = false

  /// - Parameter run: a new run.
  package init(_ configuration: Configuration, on run: ChaosRun) {
    self.configuration = configuration
    self.run = run
    random = SplitMix64(seed: configuration.seed)
  }

  /// Runs the storm and checks the result.
  ///
  /// - Parameter report: receives the progress.
  package func run(_ report: @Sendable (String) -> Void = { _ in }) async throws -> StormReport {
    let startTime = ContinuousClock.now
    for role in [Participant.Role.worker, .producer] {
      for number in 1...(role == .worker ? Self.workers : Self.producers) {
        slots.append(ProcessSlot(role, number, try start(role, number, generation: 1)))
      }
    }
    let monitoring = Task { try await monitor() }
    var jobs = 0
    var reportTime = startTime
    while faults.total < configuration.faults || jobs < configuration.jobs {
      guard startTime.duration(to: .now) < Self.timeLimit else { break }
      try await Task.sleep(for: .milliseconds(Int.random(in: Self.pause, using: &random)))
      try await injectFault()
      guard reportTime.duration(to: .now) > .seconds(10) else { continue }
      reportTime = .now
      jobs = await run.count("ordered_jobs") ?? jobs
      report("\(Int(startTime.duration(to: reportTime) / .seconds(1))) s: \(jobs) jobs, \(faults.total) faults")
    }
    var violations = try await finish()
    monitoring.cancel()
    _ = await monitoring.result
    let evidence = try await run.evidence()
    violations += Check.violations(in: evidence)
    return StormReport(
      configuration: configuration, faults: faults, duration: startTime.duration(to: .now), violations: violations,
      evidence: evidence, timing: run.timing)
  }

  // MARK: Processes

  private func start(
    _ role: Participant.Role, _ number: Int, generation: Int, predecessor: Participant? = nil
  ) throws -> Participant {
    let name = "\(role.rawValue)-\(number).\(generation)"
    let points = role == .worker ? Matrix.workerFailpoints : Matrix.producerFailpoints
    let failpoints = isFinishing ? nil : random.failpoint(of: points, upTo: 20, killsInTen: 3, stopsInTen: 2)
    switch role {
    case .worker, .service, .command: return try run.worker(name, failpoints: failpoints)
    case .producer:
      return try run.producer(
        name, jobs: isFinishing ? 0 : .max, batch: Self.maxBatch, live: Self.maxLive,
        seed: configuration.seed &+ UInt64(number * 1000 + generation), failpoints: failpoints,
        predecessor: predecessor)
    }
  }

  /// Records the faults that failpoints cause, and replaces processes that have ended.
  private func monitor() async throws {
    while !Task.isCancelled {
      for slot in slots where !slot.isBusy { try check(slot) }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func check(_ slot: ProcessSlot) throws {
    let child = slot.participant.child
    if let ending = child.ending {
      if ending == .killed(signal: SIGKILL) && !slot.isEnding { try record(.kill, slot) }
      slot.participant.proxy.stop()
      slot.generation += 1
      slot.participant = try start(
        slot.role, slot.number, generation: slot.generation, predecessor: slot.participant)
      (slot.isEnding, slot.handledStops) = (false, 0)
    } else if child.stops > slot.handledStops {
      slot.handledStops = child.stops
      try record(.freeze, slot)
      repairLater(.freeze, slot)
    }
  }

  // MARK: Faults

  private func injectFault() async throws {
    let kind: FaultKind =
      switch Int.random(in: 0..<100, using: &random) {
      case ..<25: .kill
      case ..<45: .freeze
      case ..<60: .terminate
      case ..<75: .halfOpen
      case ..<87: .cut
      case ..<94: .drain
      default: .crash
      }
    let index = Int.random(in: 0..<slots.count, using: &random)
    if kind == .crash {
      faults.add(.crash)
      return try await run.crash()
    }
    // Slots with a fault, or whose process has ended, are skipped.
    let candidates = slots[index...] + slots[..<index]
    guard let slot = candidates.first(where: { !$0.isBusy && $0.participant.child.ending == nil }) else { return }
    try record(kind, slot)
    switch kind {
    case .kill, .drain:
      slot.isEnding = true
      slot.participant.child.kill(kind == .kill ? SIGKILL : SIGTERM)
    case .freeze:
      slot.handledStops += 1
      slot.participant.child.kill(SIGSTOP)
      repairLater(.freeze, slot)
    case .terminate: try? await run.terminate(slot.participant)
    case .halfOpen:
      slot.participant.proxy.hold()
      repairLater(.halfOpen, slot)
    case .cut: slot.participant.proxy.cut()
    case .crash, .killMedia, .roll, .storageFull, .storageReadOnly, .storageGone, .storageHangs, .bucketHangs,
      .cacheLies,
      .cacheGone, .clock, .databaseReadOnly, .owner:
      break
    }
  }

  /// Ends a fault after more than a lease; the slot gets no other fault until then.
  private func repairLater(_ kind: FaultKind, _ slot: ProcessSlot) {
    slot.isBusy = true
    let leases = Double.random(in: 1.1...2.5, using: &random)
    let isCut = Bool.random(using: &random)
    repairs.append(
      Task {
        defer { slot.isBusy = false }
        try await Task.sleep(for: run.timing.lease * leases)
        if kind == .freeze {
          slot.participant.child.kill(SIGCONT)
        } else {
          // The bytes that were held arrive late, or not at all.
          if isCut { slot.participant.proxy.cut() }
          slot.participant.proxy.release()
        }
        try run.record(repair: kind, slot.participant)
      })
  }

  private func record(_ kind: FaultKind, _ slot: ProcessSlot) throws {
    faults.add(kind)
    try run.record(fault: kind, slot.participant)
  }

  // MARK: The end

  /// Lets producers enqueue their unacknowledged jobs and workers finish all jobs, and stops them.
  private func finish() async throws -> [String] {
    isFinishing = true
    var violations: [String] = []
    for repair in repairs { try await repair.value }
    for slot in slots where slot.role == .producer {
      slot.isBusy = true
      if await slot.participant.end(within: .seconds(60)) == .exited(0) { continue }
      // A producer that a failpoint has ended is replaced by one that only enqueues the unacknowledged jobs.
      slot.participant = try start(
        .producer, slot.number, generation: slot.generation + 1, predecessor: slot.participant)
      if await slot.participant.child.end(within: .seconds(60)) != .exited(0) {
        violations.append("\(slot.participant.name) did not enqueue its jobs")
      }
      slot.participant.proxy.stop()
    }
    if !(await run.isFinished(within: .seconds(120))) { violations.append("jobs did not finish") }
    for slot in slots where slot.role == .worker {
      slot.isBusy = true
      if await slot.participant.end(within: .seconds(30)) == nil {
        violations.append("\(slot.participant.name) did not end")
      }
    }
    return violations
  }
}
