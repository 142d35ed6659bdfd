import Glibc
import Platform
import SeededRandom
import Take5Testing
import WaitTesting

/// The processes of a storm, and the faults that happen to them: a process that ends is replaced, and one that stops
/// continues after more than a lease.
actor Fleet {
  /// A process that is about to start.
  struct Start: Sendable {
    let name: String
    let generation: Int
    /// The value of `TAKE5_FAILPOINTS`.
    let failpoints: String?
    /// The process that it replaces.
    let predecessor: Participant?
    /// Whether the fleet ends.
    let isLast: Bool
  }

  /// Chooses the value of `TAKE5_FAILPOINTS` for a new process.
  typealias Failpoints = @Sendable (Participant.Role, inout SplitMix64, inout FaultCounts) -> String?

  private final class Slot {
    let role: Participant.Role
    let number: Int
    let make: @Sendable (Start) throws -> Participant
    /// Whether another process replaces one that ends.
    let isReplaced: Bool
    var participant: Participant
    var generation = 1
    /// The number of faults in effect.
    var faults = 0
    /// The number of stops of the participant that have been handled.
    var handledStops = 0
    /// Whether the storm has ended the participant, and has recorded the fault.
    var isEnding = false
    /// Whether the participant is the last one.
    var isRetired = false

    init(
      _ role: Participant.Role, _ number: Int, isReplaced: Bool, _ participant: Participant,
      _ make: @escaping @Sendable (Start) throws -> Participant
    ) {
      (self.role, self.number, self.isReplaced) = (role, number, isReplaced)
      (self.participant, self.make) = (participant, make)
    }

    var isRunning: Bool { !isRetired && participant.child.ending == nil }
  }

  private let run: ChaosRun?
  private let lease: Duration
  private let failpoints: Failpoints
  private var random: SplitMix64
  private var slots: [Slot] = []
  private var supervisions: [Task<Void, any Error>] = []
  /// The tasks that end faults.
  private var repairs: [Task<Void, any Error>] = []
  private(set) var faults = FaultCounts()
  /// The numbers of killed processes.
  private(set) var kills: [Participant.Role: Int] = [:]
  /// Whether new processes have failpoints.
  private var isFailing = false
  private var isLast = false
  /// Whether an outage of something that all processes use is in effect.
  private(set) var isOutage = false

  /// - Parameter run: the run whose ledger has the faults; nil: there is none.
  init(
    _ run: ChaosRun?, lease: Duration, seed: UInt64,
    failpoints: @escaping Failpoints = { _, _, _ in nil }
  ) {
    (self.run, self.lease, self.failpoints) = (run, lease, failpoints)
    random = SplitMix64(seed: seed)
  }

  // MARK: Processes

  /// Starts a process.
  ///
  /// - Parameter isReplaced: whether processes that end are replaced.
  func add(
    _ role: Participant.Role, _ number: Int, isReplaced: Bool = true,
    _ make: @escaping @Sendable (Start) throws -> Participant
  ) throws {
    let first = try make(start(role, number, generation: 1, after: nil))
    let slot = Slot(role, number, isReplaced: isReplaced, first, make)
    slots.append(slot)
    supervisions.append(Task { try await supervise(slot) })
  }

  /// Starts `take5`, with the database of the run.
  func add(
    _ role: Participant.Role, _ number: Int, _ arguments: [String], environment: [String: String] = [:]
  ) throws {
    guard let run else { return }
    try add(role, number) { start in
      try run.program(
        role, start.name, ProgramPath.take5, arguments, failpoints: start.failpoints, environment: environment)
    }
  }

  /// The number of running processes of a role.
  func running(_ role: Participant.Role) -> Int { slots.count { $0.role == role && $0.isRunning } }

  /// Sets whether new processes have failpoints.
  func setFailing(_ isFailing: Bool) { self.isFailing = isFailing }

  /// Kills processes, which are replaced; this is no fault.
  func renew(_ role: Participant.Role? = nil) {
    for slot in slots where role == nil || slot.role == role {
      slot.isEnding = true
      slot.participant.child.kill(SIGKILL)
    }
  }

  /// Stops the processes of roles, the last first, and returns violations.
  func end(_ roles: Set<Participant.Role>, within limit: Duration) async throws -> [String] {
    (isFailing, isLast) = (false, true)
    var violations: [String] = []
    for slot in slots.reversed() where roles.contains(slot.role) && !slot.isRetired {
      slot.isRetired = true
      let ending = await slot.participant.end(within: limit)
      // A producer that a failpoint has ended is replaced by one that only enqueues the unacknowledged jobs.
      if slot.role == .producer, ending != .exited(0) {
        let successor = try slot.make(
          start(slot.role, slot.number, generation: slot.generation + 1, after: slot.participant))
        if await successor.child.end(within: limit) != .exited(0) {
          violations.append("\(successor.name) did not enqueue its jobs")
        }
        successor.proxy?.stop()
      } else if ending == nil {
        violations.append("\(slot.participant.name) did not end")
      }
    }
    return violations
  }

  private func start(
    _ role: Participant.Role, _ number: Int, generation: Int, after predecessor: Participant?
  ) -> Start {
    Start(
      name: "\(role.rawValue)-\(number).\(generation)", generation: generation,
      failpoints: isFailing ? failpoints(role, &random, &faults) : nil, predecessor: predecessor, isLast: isLast)
  }

  /// Records the faults that failpoints cause, and replaces the process whenever it ends.
  private func supervise(_ slot: Slot) async throws {
    let deadline = Deadline("the end of the storm", within: .seconds(3600))
    while !slot.isRetired {
      try deadline.check()
      let child = slot.participant.child
      if await child.isStopped(times: slot.handledStops + 1) {
        guard child.stops > slot.handledStops else { continue }
        slot.handledStops = child.stops
        try record(.freeze, slot)
        repairLater(.freeze, slot)
        continue
      }
      if child.ending == .killed(signal: SIGKILL) && !slot.isEnding && !slot.isRetired { try record(.kill, slot) }
      guard slot.isReplaced else { return }
      // A process that finds no storage or no database exits at its start, and is started again.
      if [.exited(74), .exited(69)].contains(child.ending) { try await Task.sleep(for: .milliseconds(300)) }
      guard !slot.isRetired else { return }
      slot.participant.proxy?.stop()
      slot.generation += 1
      slot.participant = try slot.make(
        start(slot.role, slot.number, generation: slot.generation, after: slot.participant))
      (slot.isEnding, slot.handledStops) = (false, 0)
    }
  }

  // MARK: Faults

  /// Injects a fault into a process of a role, if one has no fault, or into PostgreSQL.
  func inject(_ kind: FaultKind, into role: Participant.Role? = nil) async throws {
    switch kind {
    case .crash:
      faults.add(.crash)
      return try await run?.crash() ?? ()
    case .roll:
      try record(.roll)
      for slot in slots where slot.role == .worker {
        slot.isEnding = true
        slot.participant.child.kill(SIGKILL)
        try await Task.sleep(for: .milliseconds(Int.random(in: 500...1500, using: &random)))
      }
      return
    default: break
    }
    let index = Int.random(in: 0..<slots.count, using: &random)
    // Slots with a fault, or whose process has ended, are skipped.
    let candidates = (slots[index...] + slots[..<index]).filter { role == nil || $0.role == role }
    guard let slot = candidates.first(where: { $0.faults == 0 && !$0.isEnding && $0.isRunning }) else { return }
    try await inject(kind, into: slot)
  }

  /// Kills or stops the process with an id, or a random one if no process of the fleet has it.
  ///
  /// - Parameter owner: the process whose end is a fault of its own kind.
  func end(_ process: Int32?, byKill isKill: Bool, owner: Int32?) throws {
    let running = slots.filter(\.isRunning)
    let chosen = running.first { $0.participant.process == process } ?? running.randomElement(using: &random)
    guard let slot = chosen else { return }
    let kind: FaultKind = slot.participant.process == owner ? .owner : isKill ? .kill : .drain
    slot.isEnding = true
    try record(kind, slot)
    slot.participant.child.kill(isKill ? SIGKILL : slot.isReplaced ? SIGTERM : SIGINT)
  }

  private func inject(_ kind: FaultKind, into slot: Slot) async throws {
    let participant = slot.participant
    guard kind != .killMedia else {
      for media in RunningTake5.children(of: participant.process, named: "take5-media") {
        try record(.killMedia, slot)
        Glibc.kill(media, SIGKILL)
      }
      return
    }
    try record(kind, slot)
    switch kind {
    case .kill, .drain:
      slot.isEnding = true
      participant.child.kill(kind == .kill ? SIGKILL : SIGTERM)
    case .freeze:
      slot.handledStops += 1
      participant.child.kill(SIGSTOP)
      repairLater(.freeze, slot)
    case .halfOpen:
      participant.proxy?.hold()
      repairLater(.halfOpen, slot)
    case .terminate: try? await run?.terminate(participant)
    default: participant.proxy?.cut()
    }
  }

  /// Records a fault that has no process.
  func record(_ kind: FaultKind) throws {
    faults.add(kind)
    try run?.record(fault: kind, nil)
  }

  private func record(_ kind: FaultKind, _ slot: Slot) throws {
    faults.add(kind)
    if kind == .kill { kills[slot.role, default: 0] += 1 }
    try run?.record(fault: kind, slot.participant)
  }

  /// Ends a fault after more than a lease; the slot gets no other fault until then.
  private func repairLater(_ kind: FaultKind, _ slot: Slot) {
    slot.faults += 1
    let (participant, run) = (slot.participant, run)
    let leases = Double.random(in: 1.1...2.5, using: &random)
    let isCut = Bool.random(using: &random)
    repairs.append(
      Task {
        defer { slot.faults -= 1 }
        try await Task.sleep(for: lease * leases)
        if kind == .freeze {
          participant.child.kill(SIGCONT)
        } else {
          // The bytes that were held arrive late, or not at all.
          if isCut { participant.proxy?.cut() }
          participant.proxy?.release()
        }
        try run?.record(repair: kind, participant)
      })
  }

  /// Starts an outage of something that all processes use, and ends it later.
  func startOutage(
    _ kind: FaultKind, for duration: Duration, _ set: @escaping @Sendable (_ isOn: Bool) async throws -> Void
  ) throws {
    isOutage = true
    try record(kind)
    repairs.append(
      Task { [run] in
        defer { isOutage = false }
        try await set(true)
        try await Task.sleep(for: duration)
        try await set(false)
        try run?.record(repair: kind, nil)
      })
  }

  /// Waits until all faults have ended.
  func repair() async throws {
    isFailing = false
    for repair in repairs { try await repair.value }
  }
}
