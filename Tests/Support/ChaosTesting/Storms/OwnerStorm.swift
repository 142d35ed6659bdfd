import HTTPTesting
import Model
import Platform
import Postgres
import SeededRandom
import WaitTesting

/// A storm over a service, workers and short commands that share the embedded PostgreSQL of one data folder. The
/// process that owns the server ends again and again while a client submits posts, and the wall clocks of PostgreSQL
/// and of the workers step.
package struct OwnerStorm: Sendable {
  package var seed: UInt64
  package var posts = 60
  package var faults = 40
  /// The time within which all posts are ready after the last fault.
  package var limit = Duration.seconds(300)

  private static let workers = 2

  private struct Post: Decodable {
    let status: String
  }

  package init(seed: UInt64) { self.seed = seed }

  /// A command that has its database until it is stopped.
  private static let command = ["database", "sleep", "3600"]

  /// Runs the storm and checks the result.
  ///
  /// - Parameter folder: an empty folder.
  package func run(in folder: String) async throws -> StormReport {
    let startTime = ContinuousClock.now
    var random = SplitMix64(seed: seed)
    let data = "\(folder)/data"
    let clocks = try ["database", "workers"].map { try SteppedClock(in: "\(folder)/clock-\($0)") }
    let environment = try clocks[0].environmentOfOwners(in: "\(folder)/postgres-bin")
    let fleet = Fleet(nil, lease: .seconds(2), seed: random.next())
    @Sendable func start(
      _ role: Participant.Role, _ number: Int, _ arguments: [String], _ more: [String: String] = [:]
    ) async throws {
      try await fleet.add(role, number, isReplaced: role != .command) { start in
        let child = try ChaosProcess(
          start.name, path: ProgramPath.take5, arguments: arguments + ["--data", data],
          environment: environment.merging(more) { $1 }, log: "\(folder)/\(start.name).log")
        return Participant(role, name: start.name, child: child)
      }
    }
    let client = try PostClient()
    // A short command is the first owner, from which the service takes over.
    try await start(.command, 1, Self.command)
    try await start(.service, 1, ["serve", "--listen", "127.0.0.1:\(client.port)", "--slots", "0", "--lease", "2"])
    for number in 1...Self.workers {
      try await start(.worker, number, ["worker", "--lease", "2"], clocks[1].environment)
    }
    let isFinishing = CancellationFlag()
    let submitting = Task { [posts] in try await client.submit(posts, clients: 1, until: isFinishing) }
    var commands = 1
    let deadline = Deadline("all faults", within: .seconds(3600))
    while await fleet.faults.total < faults {
      try deadline.check()
      try await Task.sleep(for: .milliseconds(Int.random(in: 500...2500, using: &random)))
      // Each second fault is a step of a clock.
      let counts = await fleet.faults
      let steps = counts.total(of: [.clock])
      if steps * 2 <= counts.total {
        try await step(clocks[steps % 3 == 2 ? 1 : 0], by: steps % 2 == 0 ? -7200 : 7200, fleet)
        continue
      }
      let owner = Self.owner(of: data)
      let victim = Bool.random(using: &random) ? owner : nil
      try await fleet.end(victim, byKill: Int.random(in: 0..<3, using: &random) > 0, owner: owner)
      guard await fleet.running(.command) < 2 else { continue }
      commands += 1
      try await start(.command, commands, Bool.random(using: &random) ? Self.command : ["jobs", "stats"])
    }
    isFinishing.cancel()
    let ids = try await submitting.value
    var violations = try await unfinishedPosts(ids, client)
    violations += try await client.violations(ofRepeating: ids)
    violations += try await waitingRows(in: data)
    violations += try await fleet.end([.command, .service, .worker], within: .seconds(60))
    violations += try await ChaosProcess.violations(ofRunning: ["verify", "--deep", "--data", data], in: folder)
    return await StormReport(
      PostChecks.figures(ids.count, fleet.faults), since: startTime, "not ready, published twice or damaged",
      violations)
  }

  /// Waits until nothing waits in the database of a data folder, which a process owns.
  private func waitingRows(in data: String) async throws -> [String] {
    let address = String(decoding: try Descriptor(reading: "\(data)/postgres.url").contents(), as: UTF8.self)
    let pool = Pool(try DatabaseURL(address.filter { !$0.isNewline }), size: 1)
    let violations = await ChaosRun.waitingRows(pool)
    await pool.close()
    return violations
  }

  /// Waits until all posts are ready, and returns those that are not within `limit`.
  private func unfinishedPosts(_ ids: [Int: PublicID], _ client: PostClient) async throws -> [String] {
    let end = ContinuousClock.now + limit
    var violations: [String] = []
    for id in ids.values {
      while true {
        let response = try? await request("GET", "/v1/posts/\(id)", port: client.port)
        let post = response.flatMap { try? JSON.decode(Post.self, from: $0.body) }
        if response?.status == 200, post?.status == "ready" { break }
        if ContinuousClock.now > end {
          violations.append("post \(id) is not ready")
          break
        }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
    return violations
  }

  /// Steps a clock, kills the workers, whose leases then end by another clock than they began, and sets it right.
  private func step(_ clock: SteppedClock, by seconds: Int, _ fleet: Fleet) async throws {
    try await fleet.record(.clock)
    try clock.step(to: seconds)
    // For longer than a heartbeat's interval.
    try await Task.sleep(for: .seconds(1))
    await fleet.renew(.worker)
    try clock.step(to: 0)
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
