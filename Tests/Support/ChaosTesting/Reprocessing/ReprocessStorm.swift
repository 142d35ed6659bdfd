import Model
package import Platform
import Postgres

/// Stored media made again under a changed definition, while `take5 serve`, `take5 worker` and `take5 reprocess` itself are
/// killed and readers look on.
package actor ReprocessStorm {
  /// How much it is to be.
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var posts = 1000
    /// Beside the posts.
    package var images = 50
    /// So many processes at least.
    package var kills = 100
    package var workers = 2
    package var apps = 4
    package var readers = 2
    /// From one kill to the next, in milliseconds.
    package var pause = 200...800
    /// What can be interrupted in the programs.
    package var failpoints: [Failpoint] = []

    package init(seed: UInt64) { self.seed = seed }
  }

  private let configuration: Configuration
  private let run: ChaosRun
  private let blobs: String
  private let definitions: StormDefinitions
  private let fleet: StormFleet
  private let commands: StormCommands
  private let reader: StormReader
  private var random: SplitMix64
  /// Raised when nothing is killed any more, and when nobody reads any more.
  private let (calm, isRead) = (CancellationFlag(), CancellationFlag())

  /// - Parameter run: a fresh one.
  package init(_ configuration: Configuration, on run: ChaosRun) throws {
    self.configuration = configuration
    self.run = run
    blobs = "\(run.folder)/data"
    definitions = try StormDefinitions(in: run.folder)
    random = SplitMix64(seed: configuration.seed)
    fleet = StormFleet(
      run, blobs: blobs, definition: definitions.moment,
      failpoints: StormFailpoints(configuration.failpoints, seed: random.next()))
    commands = StormCommands(
      run, blobs: blobs, definitions: definitions.changed,
      failpoints: StormFailpoints(configuration.failpoints, seed: random.next()))
    reader = StormReader(definitions.roles) { [port = fleet.port] in port.now }
  }

  /// Goes through all of it, and checks what is left.
  package func run(_ report: @escaping @Sendable (String) -> Void = { _ in }) async throws -> ReprocessReport {
    let began = ContinuousClock.now
    try await fleet.start(workers: configuration.workers)
    let watching = Task { [fleet] in try await fleet.watch() }
    let media = try await fill()
    report("\(media.count) posts and images are stored, after \(Self.seconds(since: began)) s")
    try await reader.readAll(media, readers: configuration.readers, isChanged: false)
    let before = reader.counts
    let reading = readers(of: media)

    await fleet.setBreaking(true)
    let striking = Task { try await strike() }
    var violations: [String] = []
    var rounds: [ReprocessRound] = []
    var killed = 0
    repeat {
      let round = rounds.count < ReprocessRound.usual.count ? ReprocessRound.usual[rounds.count] : .forced
      rounds.append(round)
      if try await !commands.carryOut(round, within: .seconds(300)) {
        violations.append("the runs of round \(rounds.count) came to a standstill")
      }
      killed = await fleet.kills.values.reduce(0, +) + commands.kills
      report("round \(rounds.count), \(round.title): \(killed) killed, after \(Self.seconds(since: began)) s")
    } while violations.isEmpty && (rounds.count < ReprocessRound.usual.count || killed < configuration.kills)
    calm.cancel()
    try await striking.value
    await fleet.setBreaking(false)

    let evidence = ReprocessEvidence(run: run, blobs: "\(blobs)/blobs", media: media, rounds: rounds)
    try await reader.readAll(media, readers: configuration.readers, isChanged: true)
    violations += try await evidence.violationsWithReplaced()
    violations += try await command("gc", ["gc", "--grace", "0"])
    violations += try await command("verify", ["verify", "--deep"])
    violations += try await evidence.violationsOfRest()
    isRead.cancel()
    try await reading.value
    watching.cancel()
    _ = await watching.result
    violations += await fleet.end().map { "\($0) did not end" }
    violations += reader.violations
    return try await self.report(
      media, rounds, evidence, before: before, duration: began.duration(to: .now), violations: violations)
  }

  // MARK: Media

  /// Submits all of them, and waits until they are made.
  private func fill() async throws -> [StormMedium] {
    let material = try StormMaterial()
    let client = PostClient { [port = fleet.port] in port.now }
    let (posts, apps) = (configuration.posts, configuration.apps)
    let count = posts + configuration.images
    let media = try await withThrowingTaskGroup(of: [StormMedium].self) { group in
      for app in 0..<apps {
        group.addTask {
          var media: [StormMedium] = []
          for number in stride(from: app, to: count, by: apps) {
            let submission = material.submission(number, posts: posts)
            let id = try await client.submit(submission.form, to: submission.path, key: "medium-\(number)")
            media.append(StormMedium(sources: submission.sources, id: id))
          }
          return media
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let end = ContinuousClock.now + .seconds(600)
    while try await unmade > 0 {
      guard ContinuousClock.now < end else { throw ServiceFailure("\(try await unmade) media were never made") }
      try await Task.sleep(for: .milliseconds(200))
    }
    return media
  }

  private var unmade: Int {
    get async throws {
      try await run.pool.run { session in
        try session.execute(ChaosSchema.statements["unmade"]).single().get(0, as: Int.self)
      }
    }
  }

  private func readers(of media: [StormMedium]) -> Task<Void, any Error> {
    let seeds = (0..<configuration.readers).map { _ in random.next() }
    return Task { [reader, isRead] in
      try await withThrowingTaskGroup { group in
        for seed in seeds { group.addTask { try await reader.poll(media, seed: seed, until: isRead) } }
        try await group.waitForAll()
      }
    }
  }

  // MARK: Faults

  /// Kills one after the other until it is calm.
  private func strike() async throws {
    while !calm.isCancelled {
      try await Task.sleep(for: .milliseconds(Int.random(in: configuration.pause, using: &random)))
      var choice = SplitMix64(seed: random.next())
      switch Int.random(in: 0..<10, using: &choice) {
      case ..<5: try await fleet.kill(.worker, &choice)
      case ..<7: try await fleet.kill(.service, &choice)
      default: try await commands.kill(&choice)
      }
    }
  }

  // MARK: What is left

  /// Runs a verb; what it said, if it did not succeed.
  private func command(_ name: String, _ words: [String]) async throws -> [String] {
    let log = "\(run.folder)/\(name).log"
    let process = try ChaosProcess(
      name, path: Take5Program.path,
      arguments: words + ["--data", blobs, "--database", run.database.connectionString], log: log)
    let ending = await process.end(within: .seconds(300))
    guard ending != .exited(0) else { return [] }
    let said = String(decoding: try Descriptor(reading: log).contents().suffix(600), as: UTF8.self)
    return ["'take5 \(words.joined(separator: " "))' ended with \(ending.map { "\($0)" } ?? "nothing"): \(said)"]
  }

  private func report(
    _ media: [StormMedium], _ rounds: [ReprocessRound], _ evidence: ReprocessEvidence, before: StormReader.Counts,
    duration: Duration, violations: [String]
  ) async throws -> ReprocessReport {
    let attempts = try await evidence.attempts()
    let kills = await fleet.kills
    let counts = reader.counts
    return ReprocessReport(
      configuration: configuration,
      media: StormMedium.Kind.allCases.map { kind in (kind.title, media.count { $0.sources.kind == kind }) },
      runs: rounds.count * StormMedium.Kind.allCases.count,
      done: rounds.count { $0.outcome == .done } * media.count,
      skipped: rounds.count { $0.outcome == .skipped } * media.count,
      kills: [
        ("workers", kills[.worker] ?? 0), ("services", kills[.service] ?? 0), ("commands", await commands.kills),
      ],
      attempts: attempts.all, lost: attempts.lost, readMedia: counts.media - before.media,
      readFiles: counts.files - before.files, duration: duration, violations: violations)
  }

  private static func seconds(since began: ContinuousClock.Instant) -> Int {
    Int(began.duration(to: .now) / .seconds(1))
  }
}
