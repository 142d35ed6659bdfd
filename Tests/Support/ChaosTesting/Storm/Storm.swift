import Glibc
import Platform
import Postgres

/// Many jobs, many faults: workers, producers and the server are killed, frozen and cut off while the work goes on.
package actor Storm {
  private let configuration: StormConfiguration
  private let run: ChaosRun
  private var random: SplitMix64
  private var slots: [StormSlot] = []
  private var lasting: [Task<Void, any Error>] = []
  private var faults: [FaultKind: Int] = [:]
  private var isCalm = false

  /// - Parameter run: a fresh one.
  package init(_ configuration: StormConfiguration, on run: ChaosRun) {
    self.configuration = configuration
    self.run = run
    random = SplitMix64(seed: configuration.seed)
  }

  /// Goes through all of it, and checks what is left.
  ///
  /// - Parameter report: told how far it has come.
  package func run(_ report: @Sendable (String) -> Void = { _ in }) async throws -> StormReport {
    let began = ContinuousClock.now
    for role in [Member.Role.worker, .producer] {
      for number in 1...(role == .worker ? configuration.workers : configuration.producers) {
        slots.append(StormSlot(role: role, number: number, member: try start(role, number, life: 1, heir: nil)))
      }
    }
    let watching = Task { try await watch() }
    var jobs = 0
    var told = began
    while count < configuration.faults || jobs < configuration.jobs {
      guard began.duration(to: .now) < configuration.limit else { break }
      try await Task.sleep(for: .milliseconds(Int.random(in: configuration.pause, using: &random)))
      try await strike()
      guard told.duration(to: .now) > .seconds(10) else { continue }
      told = .now
      jobs = await enqueued() ?? jobs
      report("\(Int(began.duration(to: told) / .seconds(1))) s: \(jobs) jobs, \(count) faults")
    }
    var violations = try await calmDown()
    watching.cancel()
    _ = await watching.result
    let evidence = try await run.evidence()
    violations += Check.violations(in: evidence)
    return StormReport(
      configuration: configuration, faults: faults, duration: began.duration(to: .now), violations: violations,
      evidence: evidence, times: run.times)
  }

  private var count: Int { faults.values.reduce(0, +) }

  // MARK: Processes

  private func start(_ role: Member.Role, _ number: Int, life: Int, heir: Member?) throws -> Member {
    let name = "\(role.rawValue)-\(number).\(life)"
    let failpoints = isCalm ? nil : failpoint(for: role)
    switch role {
    case .worker, .service, .command: return try run.worker(name, failpoints: failpoints)
    case .producer:
      return try run.producer(
        name, jobs: isCalm ? 0 : .max, batch: configuration.maxBatch, live: configuration.maxLive,
        seed: configuration.seed &+ UInt64(number * 1000 + life), failpoints: failpoints, heir: heir)
    }
  }

  // Every other process will be killed or will stand still at some point that it passes.
  private func failpoint(for role: Member.Role) -> String? {
    let acts = role == .worker ? Matrix.workerActs : Matrix.producerActs
    let act = acts.randomElement(using: &random) ?? ""
    let moment = Bool.random(using: &random) ? "before" : "after"
    let passage = Int.random(in: 1...20, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case ..<3: return "\(act).\(moment)=kill@\(passage)"
    case ..<5: return "\(act).\(moment)=stop@\(passage)"
    default: return nil
    }
  }

  /// Notices what failpoints have done, and starts whoever is gone anew.
  private func watch() async throws {
    while !Task.isCancelled {
      for slot in slots where !slot.isBusy { try lookAfter(slot) }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func lookAfter(_ slot: StormSlot) throws {
    let child = slot.member.child
    if let ending = child.ending {
      if ending == .killed(signal: SIGKILL) && !slot.isEnding { try note(.kill, slot) }
      slot.member.proxy.stop()
      slot.lives += 1
      slot.member = try start(slot.role, slot.number, life: slot.lives, heir: slot.member)
      (slot.isEnding, slot.ordered) = (false, 0)
    } else if child.stops > slot.ordered {
      slot.ordered = child.stops
      try note(.freeze, slot)
      last(slot, .freeze)
    }
  }

  // MARK: Faults

  private func strike() async throws {
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
    let place = Int.random(in: 0..<slots.count, using: &random)
    if kind == .crash { return try await crash() }
    // Who is busy, or just gone, is left to those who look after it.
    guard let slot = (slots[place...] + slots[..<place]).first(where: { !$0.isBusy && $0.member.child.ending == nil })
    else { return }
    try note(kind, slot)
    switch kind {
    case .kill, .drain:
      slot.isEnding = true
      slot.member.child.kill(kind == .kill ? SIGKILL : SIGTERM)
    case .freeze:
      slot.ordered += 1
      slot.member.child.kill(SIGSTOP)
      last(slot, .freeze)
    case .terminate: try? await run.terminate(slot.member)
    case .halfOpen:
      slot.member.proxy.hold()
      last(slot, .halfOpen)
    case .cut: slot.member.proxy.cut()
    case .crash, .killMedia, .roll, .storageFull, .storageReadOnly, .storageGone, .databaseReadOnly, .owner: break
    }
  }

  private func crash() async throws {
    faults[.crash, default: 0] += 1
    try run.note(fault: .crash, nil)
    try await run.server.crash()
    try await run.server.restart()
    try run.note(relief: .crash, nil)
  }

  /// Lets a fault last for longer than a lease; nothing else is done to the slot meanwhile.
  private func last(_ slot: StormSlot, _ kind: FaultKind) {
    slot.isBusy = true
    let share = Double.random(in: 1.1...2.5, using: &random)
    let isCut = Bool.random(using: &random)
    lasting.append(
      Task {
        defer { slot.isBusy = false }
        try await Task.sleep(for: run.times.lease * share)
        if kind == .freeze {
          slot.member.child.kill(SIGCONT)
        } else {
          // What was held arrives after all, or never.
          if isCut { slot.member.proxy.cut() }
          slot.member.proxy.release()
        }
        try run.note(relief: kind, slot.member)
      })
  }

  private func note(_ kind: FaultKind, _ slot: StormSlot) throws {
    faults[kind, default: 0] += 1
    try run.note(fault: kind, slot.member)
  }

  // MARK: The end

  /// No more faults: producers settle what is open, workers work everything off, and all of them end.
  private func calmDown() async throws -> [String] {
    isCalm = true
    var violations: [String] = []
    for task in lasting { try await task.value }
    for slot in slots where slot.role == .producer {
      slot.isBusy = true
      if await slot.member.end(within: .seconds(60)) == .exited(0) { continue }
      // One that a failpoint ended leaves its ledger to another that only settles.
      slot.member = try start(.producer, slot.number, life: slot.lives + 1, heir: slot.member)
      if await slot.member.child.end(within: .seconds(60)) != .exited(0) {
        violations.append("\(slot.member.name) did not settle")
      }
      slot.member.proxy.stop()
    }
    if !(await run.isOver(within: .seconds(120))) { violations.append("jobs came to a standstill") }
    for slot in slots where slot.role == .worker {
      slot.isBusy = true
      if await slot.member.end(within: .seconds(30)) == nil { violations.append("\(slot.member.name) did not end") }
    }
    return violations
  }

  private func enqueued() async -> Int? {
    try? await run.pool.run { session in
      try session.execute(ChaosSchema.statements["ordered_jobs"]).single().get(0, as: Int.self)
    }
  }
}
