import Glibc
import Model
package import Platform
import Postgres
import Take5Testing

/// The real programs, `take5 serve` and `take5 worker`, killed, frozen and cut off while apps submit posts.
package actor ServiceStorm {
  /// How much it is to be.
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var posts = 200
    package var faults = 300
    package var workers = 2
    package var apps = 4
    /// How long the storage is full, read-only or gone, and PostgreSQL read-only.
    package var outage = Duration.seconds(60)
    /// What can be interrupted in the programs, beside the queue's own.
    package var failpoints: [Failpoint] = []

    package init(seed: UInt64) { self.seed = seed }
  }

  private let configuration: Configuration
  private let run: ChaosRun
  private let blobs: String
  private let port = ServicePort()
  private var random: SplitMix64
  private var slots: [ServiceSlot] = []
  private var lasting: [Task<Void, any Error>] = []
  private var faults: [FaultKind: Int] = [:]
  /// The folder of blobs, where it can be a file system of its own.
  private var storage: MountedFolder?
  /// Something that all need is away for a while.
  private var isOut = false
  /// Raised when nothing is broken any more.
  private let calm = CancellationFlag()

  /// - Parameter run: a fresh one.
  package init(_ configuration: Configuration, on run: ChaosRun) {
    self.configuration = configuration
    self.run = run
    blobs = "\(run.folder)/data"
    random = SplitMix64(seed: configuration.seed)
  }

  /// Goes through all of it, and checks what is left.
  package func run(_ report: @Sendable (String) -> Void = { _ in }) async throws -> ServiceReport {
    let began = ContinuousClock.now
    if MountedFolder.isAllowed {
      try Folder.make(blobs, mode: 0o711)
      try Folder.make("\(blobs)/blobs", mode: 0o700)
      storage = try MountedFolder("\(blobs)/blobs", megabytes: 2048)
    }
    // The service makes its schema before the first worker looks for it.
    slots.append(ServiceSlot(role: .service, number: 1, member: try await start(.service, 1, life: 1)))
    for number in 1...configuration.workers {
      slots.append(ServiceSlot(role: .worker, number: number, member: try await start(.worker, number, life: 1)))
    }
    let watching = Task { try await watch() }
    let submitting = Task { [configuration, port, calm] in
      try await Self.submit(configuration.posts, apps: configuration.apps, port, until: calm)
    }
    while faults.values.reduce(0, +) < configuration.faults {
      try await Task.sleep(for: .milliseconds(Int.random(in: 200...1200, using: &random)))
      try await strike()
    }
    calm.cancel()
    for task in lasting { try await task.value }
    // Those whose failpoints have not come yet would still die.
    for slot in slots { slot.member.child.kill(SIGKILL) }
    let ids = try await submitting.value
    report("\(ids.count) posts were submitted, \(faults.values.reduce(0, +)) faults happened")
    var violations: [String] = []
    if !(try await isReady(within: .seconds(600))) { violations.append("posts came to a standstill") }
    violations += try await again(ids)
    watching.cancel()
    _ = await watching.result
    for slot in slots where await slot.member.end(within: .seconds(30)) == nil {
      violations.append("\(slot.member.name) did not end")
    }
    violations += try await ServiceEvidence(run: run, blobs: "\(blobs)/blobs").violations(of: ids)
    return ServiceReport(
      configuration: configuration, posts: ids.count, faults: faults, duration: began.duration(to: .now),
      violations: violations)
  }

  // MARK: Apps

  /// Submits so many posts, and more of them until it is told to end.
  private static func submit(
    _ posts: Int, apps: Int, _ port: ServicePort, until end: CancellationFlag
  ) async throws -> [Int: PublicID] {
    let client = PostClient { port.now }
    return try await withThrowingTaskGroup(of: [(Int, PublicID)].self) { group in
      for app in 0..<apps {
        group.addTask {
          var ids: [(Int, PublicID)] = []
          var number = app
          while number < posts || !end.isCancelled {
            ids.append((number, try await client.submit(number)))
            number += apps
            try await Task.sleep(for: .milliseconds(100))
          }
          return ids
        }
      }
      return try await group.reduce(into: [:]) { all, some in for (number, id) in some { all[number] = id } }
    }
  }

  /// Every app repeats what it has submitted: it is answered with the posts that are there.
  private func again(_ ids: [Int: PublicID]) async throws -> [String] {
    let client = PostClient { [port] in port.now }
    var violations: [String] = []
    for (number, id) in ids {
      let second = try await client.submit(number)
      if second != id { violations.append("post \(number) was answered with \(id), then with \(second)") }
    }
    return violations
  }

  /// Waits until every post is ready, by itself.
  private func isReady(within limit: Duration) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      let left = try? await run.pool.run { session in
        try session.execute(ChaosSchema.statements["unfinished"]).single().get(0, as: Int.self)
      }
      if left == 0 { return true }
      try await Task.sleep(for: .milliseconds(200))
    }
    return false
  }

  // MARK: Processes

  private func start(_ role: Member.Role, _ number: Int, life: Int) async throws -> Member {
    let name = "\(role.rawValue)-\(number).\(life)"
    var words = ["--data", blobs, "--lease", "2", "--drain", "2", "--log-level", "debug", "--log-format", "text"]
    words =
      role == .service
      ? ["serve", "--listen", "127.0.0.1:0", "--workers", "0", "--least-free", "16"] + words
      : ["worker", "--slots", "2"] + words
    let member = try run.program(role, name, Take5Program.path, words, failpoints: calm.isCancelled ? nil : failpoint())
    guard role == .service else { return member }
    port.set(nil)
    // It says where it listens, or dies before: then it is noticed as any other that died.
    while member.child.ending == nil {
      if let found = ServiceLog.url(in: member.log) {
        port.set(found)
        break
      }
      if member.child.stops > 0 { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    return member
  }

  private func failpoint() -> String? {
    guard let act = configuration.failpoints.randomElement(using: &random) else { return nil }
    let moment = Bool.random(using: &random) ? "before" : "after"
    let passage = Int.random(in: 1...6, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case ..<5: return "\(act.name).\(moment)=kill@\(passage)"
    case ..<7: return "\(act.name).\(moment)=stop@\(passage)"
    default: return nil
    }
  }

  private func watch() async throws {
    while !Task.isCancelled {
      for slot in slots where !slot.isBusy {
        let child = slot.member.child
        if child.ending != nil {
          // One that finds no storage, or no database, where it starts refuses to, and is started again.
          let hasRefused = [.exited(74), .exited(69)].contains(child.ending)
          if hasRefused { try await Task.sleep(for: .milliseconds(300)) }
          if !calm.isCancelled, !hasRefused { try note(.kill, slot) }
          slot.member.proxy.stop()
          slot.lives += 1
          slot.isBusy = true
          slot.member = try await start(slot.role, slot.number, life: slot.lives)
          (slot.ordered, slot.isBusy) = (0, false)
        } else if child.stops > slot.ordered {
          slot.ordered = child.stops
          try note(.freeze, slot)
          last(slot, .freeze)
        } else if slot.role == .service, port.now == nil {
          // It stood still before it could say where it listens.
          port.set(ServiceLog.url(in: slot.member.log))
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  // MARK: Faults

  private func strike() async throws {
    let kinds: [FaultKind] = [
      .kill, .kill, .freeze, .terminate, .halfOpen, .cut, .drain, .crash, .killMedia, .killMedia, .killMedia, .roll,
    ]
    var kind = kinds.randomElement(using: &random) ?? .kill
    // Each outage is long: there are few, of each kind in turn.
    if !isOut, Int.random(in: 0..<30, using: &random) == 0 {
      kind = Self.outages[(faults.filter { Self.outages.contains($0.key) }.values.reduce(0, +)) % Self.outages.count]
      if storage != nil || kind == .databaseReadOnly { return try begin(kind) }
    }
    let place = Int.random(in: 0..<slots.count, using: &random)
    if kind == .crash {
      try note(.crash, nil)
      try await run.server.crash()
      try await run.server.restart()
      return try run.note(relief: .crash, nil)
    }
    let slot = slots[place]
    guard !slot.isBusy && slot.member.child.ending == nil else { return }
    switch kind {
    // Noted when its end is noticed.
    case .kill: slot.member.child.kill(SIGKILL)
    case .drain: slot.member.child.kill(SIGTERM)
    case .freeze:
      try note(.freeze, slot)
      slot.ordered += 1
      slot.member.child.kill(SIGSTOP)
      last(slot, .freeze)
    case .terminate:
      try note(.terminate, slot)
      try? await run.terminate(slot.member)
    case .halfOpen:
      try note(.halfOpen, slot)
      slot.member.proxy.hold()
      last(slot, .halfOpen)
    case .cut:
      try note(.cut, slot)
      slot.member.proxy.cut()
    case .killMedia:
      for media in RunningTake5.children(of: slot.member.process, named: "media-process") {
        try note(.killMedia, slot)
        Glibc.kill(media, SIGKILL)
      }
    case .roll:
      try note(.roll, nil)
      for slot in slots where slot.role == .worker {
        slot.member.child.kill(SIGKILL)
        try await Task.sleep(for: .milliseconds(Int.random(in: 500...1500, using: &random)))
      }
    case .crash, .storageFull, .storageReadOnly, .storageGone, .databaseReadOnly, .owner: break
    }
  }

  private static let outages: [FaultKind] = [.storageReadOnly, .databaseReadOnly, .storageGone, .storageFull]

  /// Takes away something that all need, and gives it back after a while.
  private func begin(_ outage: FaultKind) throws {
    isOut = true
    try note(outage, nil)
    lasting.append(
      Task {
        defer { isOut = false }
        try await change(outage, isOut: true)
        try await Task.sleep(for: configuration.outage)
        try await change(outage, isOut: false)
        try run.note(relief: outage, nil)
      })
  }

  private func change(_ outage: FaultKind, isOut: Bool) async throws {
    switch outage {
    case .storageFull: if isOut { try storage?.fill() } else { storage?.empty() }
    // Not while somebody has a file open to write to it.
    case .storageReadOnly:
      guard isOut else { return try storage?.allowWriting() ?? () }
      for _ in 0..<1000 where (try? storage?.forbidWriting()) == nil { try await Task.sleep(for: .milliseconds(10)) }
    case .storageGone: if isOut { try storage?.hide() } else { try storage?.show() }
    case .databaseReadOnly:
      let value = isOut ? "on" : "off"
      // Sent again where it fell into a crash of the server.
      while !(await set(default: "default_transaction_read_only", to: value)) {
        try await Task.sleep(for: .milliseconds(100))
      }
    default: break
    }
  }

  /// Sets a parameter for all sessions; false if the server does not answer.
  private func set(default name: String, to value: String) async -> Bool {
    let isSet = try? await run.pool.run { session -> Bool in
      try session.executeScript("ALTER SYSTEM SET \(name) = \(value)", name: "ALTER SYSTEM")
      try session.executeScript("SELECT pg_reload_conf()", name: "pg_reload_conf")
      return true
    }
    return isSet ?? false
  }

  private func note(_ kind: FaultKind, _ slot: ServiceSlot?) throws {
    faults[kind, default: 0] += 1
    try run.note(fault: kind, slot?.member)
  }

  private func last(_ slot: ServiceSlot, _ kind: FaultKind) {
    slot.isBusy = true
    let milliseconds = Int.random(in: 2200...4000, using: &random)
    lasting.append(
      Task {
        defer { slot.isBusy = false }
        try await Task.sleep(for: .milliseconds(milliseconds))
        if kind == .freeze { slot.member.child.kill(SIGCONT) } else { slot.member.proxy.release() }
        try run.note(relief: kind, slot.member)
      })
  }
}
