import Glibc
package import HTTPTesting
import Model
package import Platform
import Postgres
import SeededRandom
import Take5Testing

/// A storm over `take5 serve` and `take5 worker` while clients submit posts.
package actor ServiceStorm {
  /// The size of a storm.
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var posts = 200
    package var faults = 300
    /// The failpoints of the programs.
    package var failpoints: [Failpoint] = []
    /// The bucket that has the blobs, and its port; nil: they lie in a folder.
    package var bucket: (server: MemoryBucket, port: UInt16)?
    /// The duration of outages of the storage, and of the time in which PostgreSQL is read-only.
    package var outageDuration = Duration.seconds(60)

    package init(seed: UInt64) { self.seed = seed }
  }

  private static let workers = 2
  private static let clients = 4

  private let configuration: Configuration
  private let run: ChaosRun
  private let data: String
  private let port = ServicePort()
  private var random: SplitMix64
  private var slots: [ProcessSlot] = []
  /// The tasks that end faults.
  private var repairs: [Task<Void, any Error>] = []
  private var faults = FaultCounts()
  /// The folder of blobs, if it can be mounted.
  private var storage: MountedFolder?
  private var isOutage = false
  /// Whether no more faults are injected.
  private let isFinishing = CancellationFlag()

  /// - Parameter run: a new run.
  package init(_ configuration: Configuration, on run: ChaosRun) {
    self.configuration = configuration
    self.run = run
    data = "\(run.folder)/data"
    random = SplitMix64(seed: configuration.seed)
  }

  /// Runs the storm and checks the result.
  ///
  /// - Parameter report: receives the progress.
  package func run(_ report: @Sendable (String) -> Void = { _ in }) async throws -> PostReport {
    let startTime = ContinuousClock.now
    if configuration.bucket == nil, MountedFolder.isAllowed {
      try Folder.make(data, mode: 0o711)
      try Folder.make("\(data)/blobs", mode: 0o700)
      storage = try MountedFolder("\(data)/blobs", megabytes: 2048)
    }
    // The service creates the schema before the first worker needs it.
    slots.append(ProcessSlot(.service, 1, try await start(.service, 1, generation: 1)))
    for number in 1...Self.workers {
      slots.append(ProcessSlot(.worker, number, try await start(.worker, number, generation: 1)))
    }
    let monitoring = Task { try await monitor() }
    let client = PostClient(port: port)
    let submitting = Task { [configuration, isFinishing] in
      try await Self.submit(configuration.posts, client, until: isFinishing)
    }
    while faults.total < configuration.faults
      || configuration.bucket != nil && faults.total(of: Self.bucketFaults) < Self.bucketFaults.count
    {
      try await Task.sleep(for: .milliseconds(Int.random(in: 200...1200, using: &random)))
      try await injectFault()
    }
    isFinishing.cancel()
    for repair in repairs { try await repair.value }
    // Replaces the processes whose failpoints have not been reached yet.
    for slot in slots { slot.participant.child.kill(SIGKILL) }
    let ids = try await submitting.value
    report("\(ids.count) posts were submitted, \(faults.total) faults happened")
    var violations: [String] = []
    if !(await run.waitForNone("unfinished_posts", within: .seconds(600))) { violations.append("posts did not finish") }
    violations += try await client.violations(ofRepeating: ids)
    monitoring.cancel()
    _ = await monitoring.result
    for slot in slots where await slot.participant.end(within: .seconds(30)) == nil {
      violations.append("\(slot.participant.name) did not end")
    }
    violations += try await PostChecks.violations(
      of: ids, run: run, blobs: configuration.bucket == nil ? "\(data)/blobs" : nil)
    violations += try await verify()
    return PostReport(
      posts: ids.count, faults: faults, duration: startTime.duration(to: .now), title: "not ready or published twice",
      violations: violations)
  }

  private func verify() async throws -> [String] {
    let verify = try run.program(
      .command, "verify", ProgramPath.take5, ["verify", "--deep", "--data", data] + blobs, failpoints: nil,
      environment: environment)
    defer { verify.proxy.stop() }
    return await verify.child.end(within: .seconds(300)) == .exited(0) ? [] : ["the store is not consistent"]
  }

  /// Submits at least `posts` posts, and continues until `end`.
  private static func submit(
    _ posts: Int, _ client: PostClient, until end: CancellationFlag
  ) async throws -> [Int: PublicID] {
    try await withThrowingTaskGroup(of: [(Int, PublicID)].self) { group in
      for first in 0..<clients {
        group.addTask {
          var ids: [(Int, PublicID)] = []
          var number = first
          while number < posts || !end.isCancelled {
            ids.append((number, try await client.submit(number)))
            number += clients
            try await Task.sleep(for: .milliseconds(100))
          }
          return ids
        }
      }
      return try await group.reduce(into: [:]) { all, some in for (number, id) in some { all[number] = id } }
    }
  }

  // MARK: Processes

  private func start(_ role: Participant.Role, _ number: Int, generation: Int) async throws -> Participant {
    var arguments = ["--lease", "2", "--drain", "2", "--log-level", "debug", "--log-format", "text"] + blobs
    arguments += ["--data", data]
    arguments =
      role == .service
      ? ["serve", "--listen", "127.0.0.1:0", "--slots", "0", "--min-free", "16"] + arguments
      : ["worker", "--slots", "2"] + arguments
    let participant = try run.program(
      role, "\(role.rawValue)-\(number).\(generation)", ProgramPath.take5, arguments, failpoints: failpoints(),
      environment: environment)
    if role == .service { try await port.wait(for: participant) }
    return participant
  }

  private func failpoints() -> String? {
    let names = configuration.failpoints.map(\.name)
    guard !isFinishing.isCancelled else { return nil }
    // The first process has one.
    let isDue = faults.total(of: [.storageHangs]) == 0
    if isDue || Int.random(in: 0..<10, using: &random) < 2, let hanging = random.hangingCall(of: names, upTo: 6) {
      faults.add(.storageHangs)
      return hanging
    }
    return random.failpoint(of: names, upTo: 6, killsInTen: 5, stopsInTen: 2)
  }

  private var blobs: [String] { configuration.bucket.map { ["--blobs", MemoryBucket.url(port: $0.port)] } ?? [] }

  private var environment: [String: String] { configuration.bucket == nil ? [:] : MemoryBucket.keys }

  /// Records the faults that failpoints cause, and replaces processes that have ended.
  private func monitor() async throws {
    while !Task.isCancelled {
      for slot in slots where !slot.isBusy {
        let child = slot.participant.child
        if child.ending != nil {
          // A process that finds no storage or no database exits at its start, and is started again.
          let hasRefused = [.exited(74), .exited(69)].contains(child.ending)
          if hasRefused { try await Task.sleep(for: .milliseconds(300)) }
          if !isFinishing.isCancelled, !hasRefused { try record(.kill, slot) }
          slot.participant.proxy.stop()
          slot.generation += 1
          slot.isBusy = true
          slot.participant = try await start(slot.role, slot.number, generation: slot.generation)
          (slot.handledStops, slot.isBusy) = (0, false)
        } else if child.stops > slot.handledStops {
          slot.handledStops = child.stops
          try record(.freeze, slot)
          repairLater(.freeze, slot)
        } else if slot.role == .service, port.value == nil {
          // The service was stopped before it listened.
          port.read(log: slot.participant.log)
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  // MARK: Faults

  private func injectFault() async throws {
    let kinds: [FaultKind] = [
      .kill, .kill, .freeze, .terminate, .halfOpen, .cut, .drain, .crash, .killMedia, .killMedia, .killMedia, .roll,
    ]
    var kind = kinds.randomElement(using: &random) ?? .kill
    // Outages are long and therefore rare; their kinds follow each other.
    if !isOutage, Int.random(in: 0..<30, using: &random) == 0 {
      kind = Self.outages[faults.total(of: Self.outages) % Self.outages.count]
      if storage != nil || kind == .databaseReadOnly { return try startOutage(kind) }
    }
    if let bucket = configuration.bucket?.server, Int.random(in: 0..<3, using: &random) == 0 {
      return try injectFault(into: bucket)
    }
    let index = Int.random(in: 0..<slots.count, using: &random)
    if kind == .crash {
      faults.add(.crash)
      return try await run.crash()
    }
    let slot = slots[index]
    guard !slot.isBusy && slot.participant.child.ending == nil else { return }
    switch kind {
    // The monitor records these two when the process has ended.
    case .kill: slot.participant.child.kill(SIGKILL)
    case .drain: slot.participant.child.kill(SIGTERM)
    case .freeze:
      try record(.freeze, slot)
      slot.handledStops += 1
      slot.participant.child.kill(SIGSTOP)
      repairLater(.freeze, slot)
    case .terminate:
      try record(.terminate, slot)
      try? await run.terminate(slot.participant)
    case .halfOpen:
      try record(.halfOpen, slot)
      slot.participant.proxy.hold()
      repairLater(.halfOpen, slot)
    case .cut:
      try record(.cut, slot)
      slot.participant.proxy.cut()
    case .killMedia:
      for media in RunningTake5.children(of: slot.participant.process, named: "take5-media") {
        try record(.killMedia, slot)
        Glibc.kill(media, SIGKILL)
      }
    case .roll:
      try record(.roll, nil)
      for slot in slots where slot.role == .worker {
        slot.participant.child.kill(SIGKILL)
        try await Task.sleep(for: .milliseconds(Int.random(in: 500...1500, using: &random)))
      }
    case .crash, .storageFull, .storageReadOnly, .storageGone, .storageHangs, .bucketHangs, .cacheLies, .cacheGone,
      .clock, .databaseReadOnly, .owner:
      break
    }
  }

  private func record(_ kind: FaultKind, _ slot: ProcessSlot?) throws {
    faults.add(kind)
    try run.record(fault: kind, slot?.participant)
  }

  private func repairLater(_ kind: FaultKind, _ slot: ProcessSlot) {
    slot.isBusy = true
    let milliseconds = Int.random(in: 2200...4000, using: &random)
    repairs.append(
      Task {
        defer { slot.isBusy = false }
        try await Task.sleep(for: .milliseconds(milliseconds))
        if kind == .freeze { slot.participant.child.kill(SIGCONT) } else { slot.participant.proxy.release() }
        try run.record(repair: kind, slot.participant)
      })
  }

  // MARK: The bucket

  /// They follow each other.
  private static let bucketFaults: [FaultKind] = [.bucketHangs, .cacheLies, .cacheGone]

  /// Lets the bucket hang, or breaks the cache, which the processes share: what the service has received, workers read from it.
  private func injectFault(into bucket: MemoryBucket) throws {
    let cache = "\(data)/blob-cache"
    let kind = Self.bucketFaults[faults.total(of: Self.bucketFaults) % Self.bucketFaults.count]
    // One outage after another.
    if kind == .bucketHangs, isOutage { return }
    try record(kind, nil)
    switch kind {
    case .cacheGone: try? Folder.remove(cache)
    case .cacheLies: for copy in Self.copies(in: cache) { Self.damage(copy, &random) }
    default:
      let trouble = MemoryBucket.Trouble.allCases.randomElement(using: &random)
      isOutage = true
      bucket.set(trouble)
      repairs.append(
        Task {
          defer { isOutage = false }
          try await Task.sleep(for: configuration.outageDuration)
          bucket.set(nil)
          try run.record(repair: kind, nil)
        })
    }
  }

  /// The copies of objects in a cache, from which others may remove some meanwhile.
  private static func copies(in cache: String) -> [String] {
    ((try? Folder.names(in: cache)) ?? []).filter { $0.count == 2 }.flatMap { shard in
      ((try? Folder.names(in: "\(cache)/\(shard)")) ?? []).map { "\(cache)/\(shard)/\($0)" }
    }
  }

  /// Gives a copy other bytes, or another length.
  private static func damage(_ copy: String, _ random: inout SplitMix64) {
    guard Bool.random(using: &random) else {
      truncate(copy, 100)
      return
    }
    let file = open(copy, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = try? Descriptor(owning: file).write([UInt8](repeating: 0x55, count: 64), at: 20)
  }

  // MARK: Outages

  private static let outages: [FaultKind] = [.storageReadOnly, .databaseReadOnly, .storageGone, .storageFull]

  /// Starts an outage of the storage or the database, and ends it later.
  private func startOutage(_ outage: FaultKind) throws {
    isOutage = true
    try record(outage, nil)
    repairs.append(
      Task {
        defer { isOutage = false }
        try await set(outage, to: true)
        try await Task.sleep(for: configuration.outageDuration)
        try await set(outage, to: false)
        try run.record(repair: outage, nil)
      })
  }

  private func set(_ outage: FaultKind, to isOn: Bool) async throws {
    switch outage {
    case .storageFull: if isOn { try storage?.fill() } else { storage?.empty() }
    // A file system cannot become read-only while a file is open for writing.
    case .storageReadOnly:
      guard isOn else { return try storage?.allowWriting() ?? () }
      for _ in 0..<1000 where (try? storage?.forbidWriting()) == nil { try await Task.sleep(for: .milliseconds(10)) }
    case .storageGone: if isOn { try storage?.hide() } else { try storage?.show() }
    case .databaseReadOnly:
      // The statements are repeated if the server crashes.
      while !(await setDefaultReadOnly(isOn)) { try await Task.sleep(for: .milliseconds(100)) }
    default: break
    }
  }

  /// Sets `default_transaction_read_only` for all sessions; false if the server does not respond.
  private func setDefaultReadOnly(_ isOn: Bool) async -> Bool {
    let isSet = try? await run.pool.run { session -> Bool in
      let value = isOn ? "on" : "off"
      try session.executeScript("ALTER SYSTEM SET default_transaction_read_only = \(value)", name: "ALTER SYSTEM")
      try session.executeScript("SELECT pg_reload_conf()", name: "pg_reload_conf")
      return true
    }
    return isSet ?? false
  }
}
