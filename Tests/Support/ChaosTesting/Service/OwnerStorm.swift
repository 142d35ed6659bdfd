import Glibc
import HTTPTesting
import Model
import Platform

/// A service, workers and short commands on one data folder, whose PostgreSQL belongs to one of them: whoever owns it ends,
/// again and again, while apps submit posts.
package actor OwnerStorm {
  /// How much it is to be.
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var posts = 60
    package var faults = 40
    package var workers = 2

    package init(seed: UInt64) { self.seed = seed }
  }

  /// A place for a process; those of services are filled again when one ends.
  private final class Place {
    let words: [String]
    let isService: Bool
    var process: ChaosProcess
    var lives = 1

    init(_ words: [String], isService: Bool, _ process: ChaosProcess) {
      self.words = words
      self.isService = isService
      self.process = process
    }
  }

  private struct Status: Decodable {
    let status: String
  }

  private let configuration: Configuration
  private let folder: String
  private let port = ServicePort()
  private var random: SplitMix64
  private var places: [Place] = []
  private var faults: [FaultKind: Int] = [:]
  private let calm = CancellationFlag()

  /// - Parameter folder: an empty one.
  package init(_ configuration: Configuration, folder: String) {
    self.configuration = configuration
    self.folder = folder
    random = SplitMix64(seed: configuration.seed)
  }

  private var data: String { "\(folder)/data" }

  /// Goes through all of it, and checks what is left.
  package func run() async throws -> OwnerReport {
    let began = ContinuousClock.now
    // A short command comes first: it owns what the service then takes over.
    try start(["jobs", "watch", "--json"], isService: false)
    try start(["serve", "--listen", "127.0.0.1:0", "--workers", "0", "--lease", "2"], isService: true)
    for _ in 0..<configuration.workers { try start(["worker", "--lease", "2"], isService: true) }
    let watching = Task { try await watch() }
    let submitting = Task { [configuration, port, calm] in
      var ids: [Int: PublicID] = [:]
      let client = PostClient { port.now }
      var number = 1
      while number <= configuration.posts || !calm.isCancelled {
        ids[number] = try await client.submit(number)
        number += 1
        try await Task.sleep(for: .milliseconds(100))
      }
      return ids
    }
    while faults.values.reduce(0, +) < configuration.faults {
      try await Task.sleep(for: .milliseconds(Int.random(in: 500...2500, using: &random)))
      try strike()
    }
    calm.cancel()
    let ids = try await submitting.value
    var violations = try await unready(ids, within: .seconds(300))
    let client = PostClient { [port] in port.now }
    for (number, id) in ids {
      let second = try await client.submit(number)
      if second != id { violations.append("post \(number) was answered with \(id), then with \(second)") }
    }
    watching.cancel()
    _ = await watching.result
    for place in places.reversed() where place.process.ending == nil {
      place.process.kill(SIGTERM)
      if await place.process.end(within: .seconds(60)) == nil { violations.append("\(place.process.name) did not end") }
    }
    let verify = try ChaosProcess(
      "verify", path: Take5Program.path, arguments: ["verify", "--deep", "--data", data], log: "\(folder)/verify.log")
    if await verify.end(within: .seconds(120)) != .exited(0) { violations.append("the store is not whole") }
    return OwnerReport(
      posts: ids.count, faults: faults, duration: began.duration(to: .now), violations: violations)
  }

  private func unready(_ ids: [Int: PublicID], within limit: Duration) async throws -> [String] {
    let end = ContinuousClock.now + limit
    var left = Set(ids.values)
    while !left.isEmpty, ContinuousClock.now < end {
      for id in left {
        guard let port = port.now, let answer = try? await request("GET", "/v1/posts/\(id)", port: port) else {
          continue
        }
        let post = try? JSON.decode(Status.self, from: answer.body)
        if answer.status == 200, post?.status == "ready" { left.remove(id) }
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    return left.map { "post \($0) is not ready" }
  }

  // MARK: Processes

  private func start(_ words: [String], isService: Bool) throws {
    places.append(Place(words, isService: isService, try process(words, 1, places.count)))
  }

  private func process(_ words: [String], _ life: Int, _ number: Int) throws -> ChaosProcess {
    let name = "\(number)-\(words[0]).\(life)"
    if words[0] == "serve" { port.set(nil) }
    return try ChaosProcess(
      name, path: Take5Program.path, arguments: words + ["--data", data], log: "\(folder)/\(name).log")
  }

  private func watch() async throws {
    while !Task.isCancelled {
      for (number, place) in places.enumerated() {
        if place.process.ending != nil, place.isService {
          place.lives += 1
          place.process = try process(place.words, place.lives, number)
        } else if place.words[0] == "serve", port.now == nil {
          port.set(ServiceLog.url(in: "\(folder)/\(place.process.name).log"))
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  // MARK: Faults

  /// Ends the owner as often as anybody else, hard or softly, and lets commands come and go.
  private func strike() throws {
    let living = places.filter { $0.process.ending == nil }
    let owner = Self.owner(of: data)
    let place = Bool.random(using: &random) ? living.first { $0.process.process == owner } : nil
    guard let victim = place ?? living.randomElement(using: &random) else { return }
    let isHard = Int.random(in: 0..<3, using: &random) > 0
    victim.process.kill(isHard ? SIGKILL : victim.isService ? SIGTERM : SIGINT)
    let isOwner = victim.process.process == owner
    faults[isOwner ? .owner : isHard ? .kill : .drain, default: 0] += 1
    if places.count(where: { !$0.isService && $0.process.ending == nil }) < 2 {
      try start(Bool.random(using: &random) ? ["jobs", "watch", "--json"] : ["jobs", "stats"], isService: false)
    }
  }

  /// The parent of the postmaster; nil while there is none.
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

/// What came of a storm over owners.
package struct OwnerReport: Sendable {
  package let posts: Int
  package let faults: [FaultKind: Int]
  package let duration: Duration
  /// Empty when all is well.
  package let violations: [String]

  /// What it came to, a name and a value each.
  package var figures: [(name: String, value: String)] {
    [
      ("posts", "\(posts), each submitted until it was answered, then once more"),
      ("faults", FaultKind.text(faults)), ("duration", "\(Int(duration / .seconds(1))) s"),
      ("not ready, made twice or damaged", violations.isEmpty ? "none" : "\(violations.count) violations"),
    ]
  }
}
