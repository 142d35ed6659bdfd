import Glibc
package import HTTPTesting
import Model
package import Platform
import Postgres
import SeededRandom
import Take5Testing
import WaitTesting

/// A storm over `take5 serve` and `take5 worker` while clients submit posts.
package struct ServiceStorm: Sendable {
  package var seed: UInt64
  package var posts = 200
  package var faults = 300
  /// The failpoints of the programs.
  package var failpoints: [Failpoint] = []
  /// The bucket that has the blobs, and its port; nil: they lie in a folder.
  package var bucket: (server: MemoryBucket, port: UInt16)?
  /// The duration of outages of the storage, and of the time in which PostgreSQL is read-only.
  package var outageDuration = Duration.seconds(60)

  private static let workers = 2
  private static let clients = 4

  package init(seed: UInt64) { self.seed = seed }

  /// Runs the storm and checks the result.
  ///
  /// - Parameters:
  ///   - run: a new run.
  ///   - report: receives the progress.
  package func run(on run: ChaosRun, _ report: @Sendable (String) -> Void = { _ in }) async throws -> StormReport {
    let startTime = ContinuousClock.now
    var random = SplitMix64(seed: seed)
    let data = "\(run.folder)/data"
    let storage = try mount(data)
    let store = ["--data", data] + (bucket.map { ["--blobs", MemoryBucket.url(port: $0.port)] } ?? [])
    let environment = bucket == nil ? [:] : MemoryBucket.keys
    let client = try PostClient()
    let names = failpoints.map(\.name)
    let fleet = Fleet(run, lease: .seconds(2), seed: random.next()) { _, random, faults in
      // The first process has one.
      let isDue = faults.total(of: [.storageHangs]) == 0
      if isDue || Int.random(in: 0..<10, using: &random) < 2, let hanging = random.hangingCall(of: names, upTo: 6) {
        faults.add(.storageHangs)
        return hanging
      }
      return random.failpoint(of: names, upTo: 6, killsInTen: 5, stopsInTen: 2)
    }
    let options = ["--lease", "2", "--drain", "2", "--log-level", "debug", "--log-format", "text"] + store
    let listening = ["--listen", "127.0.0.1:\(client.port)", "--slots", "0", "--min-free", "16"]
    try await fleet.add(.service, 1, ["serve"] + listening + options, environment: environment)
    // The service creates the schema before the first worker needs it.
    try await client.waitForService()
    await fleet.setFailing(true)
    for number in 1...Self.workers {
      try await fleet.add(.worker, number, ["worker", "--slots", "2"] + options, environment: environment)
    }
    let isFinishing = CancellationFlag()
    let submitting = Task { [posts] in try await client.submit(posts, clients: Self.clients, until: isFinishing) }
    let deadline = Deadline("all faults", within: .seconds(3600))
    while await isDue(fleet.faults) {
      try deadline.check()
      try await Task.sleep(for: .milliseconds(Int.random(in: 200...1200, using: &random)))
      try await injectFault(into: fleet, storage, run, cache: "\(data)/blob-cache", &random)
    }
    isFinishing.cancel()
    try await fleet.repair()
    // Replaces the processes whose failpoints have not been reached yet.
    await fleet.renew()
    let ids = try await submitting.value
    let counts = await fleet.faults
    report("\(ids.count) posts were submitted, \(counts.total) faults happened")
    var violations: [String] = []
    if !(await run.waitForNone("unfinished_posts", within: .seconds(600))) { violations.append("posts did not finish") }
    violations += try await client.violations(ofRepeating: ids)
    violations += await run.waitingRows()
    violations += try await fleet.end([.service, .worker], within: .seconds(30))
    violations += try await PostChecks.violations(of: ids, run: run, blobs: bucket == nil ? "\(data)/blobs" : nil)
    violations += try await run.violations(ofRunning: ["verify", "--deep"] + store, environment: environment)
    return StormReport(
      PostChecks.figures(ids.count, counts), since: startTime, "not ready or published twice", violations)
  }

  /// Whether another fault is due.
  private func isDue(_ counts: FaultCounts) -> Bool {
    counts.total < faults || bucket != nil && counts.total(of: Self.bucketFaults) < Self.bucketFaults.count
  }

  /// Mounts the folder of blobs, if that is possible.
  private func mount(_ data: String) throws -> MountedFolder? {
    guard bucket == nil, MountedFolder.isAllowed else { return nil }
    try Folder.make(data, mode: 0o711)
    try Folder.make("\(data)/blobs", mode: 0o700)
    return try MountedFolder("\(data)/blobs", megabytes: 2048)
  }

  private func injectFault(
    into fleet: Fleet, _ storage: MountedFolder?, _ run: ChaosRun, cache: String, _ random: inout SplitMix64
  ) async throws {
    // Outages are long and therefore rare; their kinds follow each other.
    if !(await fleet.isOutage), Int.random(in: 0..<30, using: &random) == 0 {
      let kind = Self.outages[await fleet.faults.total(of: Self.outages) % Self.outages.count]
      if storage != nil || kind == .databaseReadOnly {
        return try await fleet.startOutage(kind, for: outageDuration) { try await Self.set(kind, to: $0, storage, run) }
      }
    }
    if let bucket = bucket?.server, Int.random(in: 0..<3, using: &random) == 0 {
      return try await injectFault(into: bucket, cache: cache, fleet, &random)
    }
    let kinds: [FaultKind] = [
      .kill, .kill, .freeze, .terminate, .halfOpen, .cut, .drain, .crash, .killMedia, .killMedia, .killMedia, .roll,
    ]
    try await fleet.inject(kinds.randomElement(using: &random) ?? .kill)
  }

  // MARK: The bucket

  /// They follow each other.
  private static let bucketFaults: [FaultKind] = [.bucketHangs, .cacheLies, .cacheGone]

  /// Lets the bucket hang, or breaks the cache, which the processes share: what the service has received, workers read
  /// from it.
  private func injectFault(
    into bucket: MemoryBucket, cache: String, _ fleet: Fleet, _ random: inout SplitMix64
  ) async throws {
    let kind = Self.bucketFaults[await fleet.faults.total(of: Self.bucketFaults) % Self.bucketFaults.count]
    guard kind == .bucketHangs else {
      try await fleet.record(kind)
      if kind == .cacheGone { try? Folder.remove(cache) }
      // Others may remove some meanwhile.
      for shard in (try? Folder.names(in: cache)) ?? [] where shard.count == 2 {
        for copy in (try? Folder.names(in: "\(cache)/\(shard)")) ?? [] {
          Self.damage("\(cache)/\(shard)/\(copy)", &random)
        }
      }
      return
    }
    // One outage after another.
    guard await !fleet.isOutage else { return }
    let trouble = MemoryBucket.Trouble.allCases.randomElement(using: &random)
    try await fleet.startOutage(kind, for: outageDuration) { bucket.set($0 ? trouble : nil) }
  }

  /// Gives a copy of an object other bytes, or another length.
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

  private static func set(_ outage: FaultKind, to isOn: Bool, _ storage: MountedFolder?, _ run: ChaosRun) async throws {
    switch outage {
    case .storageFull: if isOn { try storage?.fill() } else { storage?.empty() }
    // A file system cannot become read-only while a file is open for writing.
    case .storageReadOnly:
      guard isOn else { return try storage?.allowWriting() ?? () }
      for _ in 0..<1000 where (try? storage?.forbidWriting()) == nil { try await Task.sleep(for: .milliseconds(10)) }
    case .storageGone: if isOn { try storage?.hide() } else { try storage?.show() }
    default:
      // The statements are repeated if the server crashes.
      let deadline = Deadline("the server responds")
      while !(await setDefaultReadOnly(isOn, run)) {
        try deadline.check()
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// Sets `default_transaction_read_only` for all sessions; false if the server does not respond.
  private static func setDefaultReadOnly(_ isOn: Bool, _ run: ChaosRun) async -> Bool {
    let isSet = try? await run.pool.run { session -> Bool in
      let value = isOn ? "on" : "off"
      try session.executeScript("ALTER SYSTEM SET default_transaction_read_only = \(value)", name: "ALTER SYSTEM")
      try session.executeScript("SELECT pg_reload_conf()", name: "pg_reload_conf")
      return true
    }
    return isSet ?? false
  }
}
