import Glibc
import HTTPTesting
import Model
import Platform
import SeededRandom

/// A storm over a service, workers and short commands that share the embedded PostgreSQL of one data folder. The
/// process that owns the server ends again and again while a client submits posts.
package actor OwnerStorm {
  /// The size of a storm.
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var posts = 60
    package var faults = 40
    /// Whether the wall clocks of PostgreSQL and of the workers step.
    package var stepsClocks = true
    /// The time within which all posts are ready after the last fault.
    package var limit = Duration.seconds(300)

    package init(seed: UInt64) { self.seed = seed }
  }

  private static let workers = 2

  /// A slot for a process; a service or a worker that ends is replaced.
  private final class Slot {
    let arguments: [String]
    let isService: Bool
    var process: ChaosProcess
    var generation = 1

    init(_ arguments: [String], isService: Bool, _ process: ChaosProcess) {
      self.arguments = arguments
      self.isService = isService
      self.process = process
    }
  }

  private struct Post: Decodable {
    let status: String
  }

  private let configuration: Configuration
  private let folder: String
  private let port = ServicePort()
  private var random: SplitMix64
  private var slots: [Slot] = []
  private var faults = FaultCounts()
  /// The clocks of PostgreSQL and of the workers.
  private var clocks: [SteppedClock] = []
  private var environment: [String: String] = [:]
  private let isFinishing = CancellationFlag()

  /// - Parameter folder: an empty folder.
  package init(_ configuration: Configuration, folder: String) {
    self.configuration = configuration
    self.folder = folder
    random = SplitMix64(seed: configuration.seed)
  }

  private var data: String { "\(folder)/data" }

  /// A command that has its database until it is stopped.
  private static let command = ["database", "sleep", "3600"]

  /// Runs the storm and checks the result.
  package func run() async throws -> PostReport {
    let startTime = ContinuousClock.now
    if configuration.stepsClocks {
      clocks = try ["database", "workers"].map { try SteppedClock(in: "\(folder)/clock-\($0)") }
      environment = try clocks[0].environmentOfOwners(in: "\(folder)/postgres-bin")
    }
    // A short command is the first owner, from which the service takes over.
    try start(Self.command, isService: false)
    try start(["serve", "--listen", "127.0.0.1:0", "--slots", "0", "--lease", "2"], isService: true)
    for _ in 0..<Self.workers { try start(["worker", "--lease", "2"], isService: true) }
    let monitoring = Task { try await monitor() }
    let client = PostClient(port: port)
    let submitting = Task { [configuration, isFinishing] in
      var ids: [Int: PublicID] = [:]
      var number = 1
      while number <= configuration.posts || !isFinishing.isCancelled {
        ids[number] = try await client.submit(number)
        number += 1
        try await Task.sleep(for: .milliseconds(100))
      }
      return ids
    }
    while faults.total < configuration.faults {
      try await Task.sleep(for: .milliseconds(Int.random(in: 500...2500, using: &random)))
      // Each second fault is a step of a clock.
      if !clocks.isEmpty, faults.total(of: [.clock]) * 2 <= faults.total {
        try await stepClock()
      } else {
        try injectFault()
      }
    }
    isFinishing.cancel()
    let ids = try await submitting.value
    var violations = try await unfinishedPosts(ids, within: configuration.limit)
    violations += try await client.violations(ofRepeating: ids)
    monitoring.cancel()
    _ = await monitoring.result
    for slot in slots.reversed() where slot.process.ending == nil {
      slot.process.kill(SIGTERM)
      if await slot.process.end(within: .seconds(60)) == nil { violations.append("\(slot.process.name) did not end") }
    }
    let verify = try ChaosProcess(
      "verify", path: ProgramPath.take5, arguments: ["verify", "--deep", "--data", data], log: "\(folder)/verify.log")
    if await verify.end(within: .seconds(120)) != .exited(0) { violations.append("the store is not consistent") }
    return PostReport(
      posts: ids.count, faults: faults, duration: startTime.duration(to: .now),
      title: "not ready, published twice or damaged", violations: violations)
  }

  /// Waits until all posts are ready, and returns those that are not within `limit`.
  private func unfinishedPosts(_ ids: [Int: PublicID], within limit: Duration) async throws -> [String] {
    let end = ContinuousClock.now + limit
    var unfinished = Set(ids.values)
    while !unfinished.isEmpty, ContinuousClock.now < end {
      for id in unfinished {
        guard let port = port.value, let response = try? await request("GET", "/v1/posts/\(id)", port: port) else {
          continue
        }
        let post = try? JSON.decode(Post.self, from: response.body)
        if response.status == 200, post?.status == "ready" { unfinished.remove(id) }
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    return unfinished.map { "post \($0) is not ready" }
  }

  // MARK: Processes

  private func start(_ arguments: [String], isService: Bool) throws {
    slots.append(
      Slot(arguments, isService: isService, try process(arguments, generation: 1, number: slots.count)))
  }

  private func process(_ arguments: [String], generation: Int, number: Int) throws -> ChaosProcess {
    let name = "\(number)-\(arguments[0]).\(generation)"
    if arguments[0] == "serve" { port.value = nil }
    let own = arguments[0] == "worker" ? clocks.last?.environment ?? [:] : [:]
    return try ChaosProcess(
      name, path: ProgramPath.take5, arguments: arguments + ["--data", data],
      environment: environment.merging(own) { $1 }, log: "\(folder)/\(name).log")
  }

  /// Replaces services and workers that have ended.
  private func monitor() async throws {
    while !Task.isCancelled {
      for (number, slot) in slots.enumerated() {
        if slot.process.ending != nil, slot.isService {
          slot.generation += 1
          slot.process = try process(slot.arguments, generation: slot.generation, number: number)
        } else if slot.arguments[0] == "serve", port.value == nil {
          port.read(log: "\(folder)/\(slot.process.name).log")
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  // MARK: Faults

  /// Steps a clock back or forward, kills the workers, whose leases then end by another clock than they began, and sets it right.
  private func stepClock() async throws {
    let step = faults.total(of: [.clock])
    let clock = clocks[step % 3 == 2 ? 1 : 0]
    faults.add(.clock)
    try clock.step(to: step % 2 == 0 ? -7200 : 7200)
    // For longer than a heartbeat's interval.
    try await Task.sleep(for: .seconds(1))
    for slot in slots where slot.arguments[0] == "worker" { slot.process.kill(SIGKILL) }
    try clock.step(to: 0)
  }

  /// Kills or stops the owner or a random process, and starts further commands.
  private func injectFault() throws {
    let running = slots.filter { $0.process.ending == nil }
    let owner = Self.owner(of: data)
    let slot = Bool.random(using: &random) ? running.first { $0.process.process == owner } : nil
    guard let victim = slot ?? running.randomElement(using: &random) else { return }
    let isKill = Int.random(in: 0..<3, using: &random) > 0
    victim.process.kill(isKill ? SIGKILL : victim.isService ? SIGTERM : SIGINT)
    faults.add(victim.process.process == owner ? .owner : isKill ? .kill : .drain)
    if slots.count(where: { !$0.isService && $0.process.ending == nil }) < 2 {
      try start(Bool.random(using: &random) ? Self.command : ["jobs", "stats"], isService: false)
    }
  }

  /// The owner of the embedded PostgreSQL, which is the parent of the postmaster; nil if there is none.
  private static func owner(of data: String) -> Int32? {
    for name in (try? Folder.names(in: "/proc")) ?? [] {
      guard let process = Int32(name), let command = KernelFile.read("/proc/\(process)/cmdline"),
        command.contains("/postgres\0-D\0"), command.contains(data),
        let stat = KernelFile.read("/proc/\(process)/stat"), let end = stat.lastIndex(of: ")")
      else { continue }
      return stat[stat.index(after: end)...].split(separator: " ").dropFirst().first.flatMap { Int32($0) }
    }
    return nil
  }
}
