import Glibc
import Platform

/// The service and the workers of a storm over reprocessing: whoever is killed comes back.
actor StormFleet {
  private let run: ChaosRun
  private let blobs: String
  /// The service's definition of moments.
  private let definition: String
  nonisolated let port = ServicePort()
  private var failpoints: StormFailpoints
  private var slots: [ServiceSlot] = []
  private(set) var kills: [Member.Role: Int] = [:]
  /// Whether processes that are started now may kill themselves.
  private var isBreaking = false

  init(_ run: ChaosRun, blobs: String, definition: String, failpoints: StormFailpoints) {
    self.run = run
    self.blobs = blobs
    self.definition = definition
    self.failpoints = failpoints
  }

  /// Starts all of them; the service first, which makes the schema.
  func start(workers: Int) async throws {
    slots.append(ServiceSlot(role: .service, number: 1, member: try await start(.service, 1, life: 1)))
    for number in 1...workers {
      slots.append(ServiceSlot(role: .worker, number: number, member: try await start(.worker, number, life: 1)))
    }
  }

  /// Starts again whoever ended, until it is cancelled.
  func watch() async throws {
    while !Task.isCancelled {
      for slot in slots where slot.member.child.ending != nil {
        if slot.member.child.ending == .killed(signal: SIGKILL) { kills[slot.role, default: 0] += 1 }
        if slot.role == .service { port.set(nil) }
        slot.member.proxy.stop()
        slot.lives += 1
        slot.member = try await start(slot.role, slot.number, life: slot.lives)
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Lets processes that start from now on kill themselves, or no more.
  func setBreaking(_ isBreaking: Bool) {
    self.isBreaking = isBreaking
    // Those whose points have not come yet would still die.
    if !isBreaking { for slot in slots { slot.member.child.kill(SIGKILL) } }
  }

  /// Kills the service, or one of the workers.
  func kill(_ role: Member.Role, _ random: inout SplitMix64) throws {
    guard let slot = slots.filter({ $0.role == role }).randomElement(using: &random) else { return }
    try run.note(fault: .kill, slot.member)
    slot.member.child.kill(SIGKILL)
  }

  /// Asks all to end, once nobody watches any more; those that did not.
  func end() async -> [String] {
    var late: [String] = []
    for slot in slots where await slot.member.end(within: .seconds(30)) == nil { late.append(slot.member.name) }
    return late
  }

  private func start(_ role: Member.Role, _ number: Int, life: Int) async throws -> Member {
    var words = ["--data", blobs, "--lease", "2", "--drain", "2", "--background-slots", "2", "--log-format", "text"]
    if role == .service {
      words = ["serve", "--listen", "127.0.0.1:0", "--workers", "0", "--definition", definition] + words
    } else {
      words = ["worker"] + words
    }
    let member = try run.program(
      role, "\(role.rawValue)-\(number).\(life)", Take5Program.path, words,
      failpoints: isBreaking ? failpoints.next() : nil)
    guard role == .service else { return member }
    // It says where it listens, or dies before: then it is noticed as any other that died.
    while member.child.ending == nil {
      if let found = ServiceLog.url(in: member.log) {
        port.set(found)
        break
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    return member
  }
}
