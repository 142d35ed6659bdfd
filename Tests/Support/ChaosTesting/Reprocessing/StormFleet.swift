import Glibc
import Platform
import SeededRandom

/// The service and the workers of a storm over reprocessing. Killed processes are replaced.
actor StormFleet {
  private let run: ChaosRun
  private let data: String
  /// The path of the service's definition of moments.
  private let definition: String
  nonisolated let port = ServicePort()
  private var failpoints: StormFailpoints
  private var slots: [ProcessSlot] = []
  private(set) var kills: [Participant.Role: Int] = [:]
  /// Whether new processes have failpoints.
  private var isFailing = false

  init(_ run: ChaosRun, data: String, definition: String, failpoints: StormFailpoints) {
    self.run = run
    self.data = data
    self.definition = definition
    self.failpoints = failpoints
  }

  /// Starts the service, which creates the schema, and then the workers.
  func start(workers: Int) async throws {
    slots.append(ProcessSlot(.service, 1, try await start(.service, 1, generation: 1)))
    for number in 1...workers {
      slots.append(ProcessSlot(.worker, number, try await start(.worker, number, generation: 1)))
    }
  }

  /// Replaces processes that have ended, until the task is cancelled.
  func monitor() async throws {
    while !Task.isCancelled {
      for slot in slots where slot.participant.child.ending != nil {
        if slot.participant.child.ending == .killed(signal: SIGKILL) { kills[slot.role, default: 0] += 1 }
        if slot.role == .service { port.value = nil }
        slot.participant.proxy.stop()
        slot.generation += 1
        slot.participant = try await start(slot.role, slot.number, generation: slot.generation)
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Sets whether new processes have failpoints; without them, the running processes are replaced.
  func setFailing(_ isFailing: Bool) {
    self.isFailing = isFailing
    // Processes with failpoints that have not been reached could still end.
    if !isFailing { for slot in slots { slot.participant.child.kill(SIGKILL) } }
  }

  /// Kills the service, or one of the workers.
  func kill(_ role: Participant.Role, _ random: inout SplitMix64) throws {
    guard let slot = slots.filter({ $0.role == role }).randomElement(using: &random) else { return }
    try run.record(fault: .kill, slot.participant)
    slot.participant.child.kill(SIGKILL)
  }

  /// Stops all processes, after `monitor` was cancelled, and returns the names of those that did not end.
  func end() async -> [String] {
    var late: [String] = []
    for slot in slots where await slot.participant.end(within: .seconds(30)) == nil {
      late.append(slot.participant.name)
    }
    return late
  }

  private func start(_ role: Participant.Role, _ number: Int, generation: Int) async throws -> Participant {
    var arguments = ["--data", data, "--lease", "2", "--drain", "2", "--background-slots", "2", "--log-format", "text"]
    if role == .service {
      arguments = ["serve", "--listen", "127.0.0.1:0", "--slots", "0", "--definition", definition] + arguments
    } else {
      arguments = ["worker"] + arguments
    }
    let participant = try run.program(
      role, "\(role.rawValue)-\(number).\(generation)", ProgramPath.take5, arguments,
      failpoints: isFailing ? failpoints.next() : nil)
    if role == .service { try await port.wait(for: participant) }
    return participant
  }
}

/// The random failpoints at which processes of a storm over reprocessing are killed.
struct StormFailpoints: Sendable {
  /// All failpoints, and those of the replacement of outputs.
  private let all: [Failpoint]
  private let replacing: [Failpoint]
  private var random: SplitMix64

  init(_ failpoints: [Failpoint], seed: UInt64) {
    all = failpoints
    replacing = failpoints.filter { point in
      ["reprocessing.", "store.insert_", "blob"].contains { point.name.hasPrefix($0) }
    }
    random = SplitMix64(seed: seed)
  }

  /// The value of `TAKE5_FAILPOINTS` for the next process; nil: no failpoint.
  mutating func next() -> String? {
    // Two in three processes have a failpoint, mostly one of the replacement of outputs.
    guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
    let points = Int.random(in: 0..<4, using: &random) > 0 ? replacing : all
    return random.failpoint(of: points.map(\.name), upTo: 12, killsInTen: 10, stopsInTen: 0)
  }
}
