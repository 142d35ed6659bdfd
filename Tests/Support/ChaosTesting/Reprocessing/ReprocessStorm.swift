import Model
package import Platform
import Postgres
import SeededRandom

/// A storm over reprocessing: stored media are reprocessed with a changed definition while `take5 serve`, `take5
/// worker` and `take5 reprocess` are killed, and while readers check the media.
package actor ReprocessStorm {
  /// The size of a storm.
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var posts = 1000
    /// The number of images, in addition to the posts.
    package var images = 50
    /// The minimum number of killed processes.
    package var kills = 100
    /// The pause between two kills, in milliseconds.
    package var pause = 200...800
    /// The failpoints of the programs.
    package var failpoints: [Failpoint] = []

    package init(seed: UInt64) { self.seed = seed }
  }

  private static let workers = 2
  private static let clients = 4
  private static let readers = 2

  private let configuration: Configuration
  private let run: ChaosRun
  private let data: String
  private let definitions: StormDefinitions
  private let fleet: StormFleet
  private let commands: StormCommands
  private let reader: StormReader
  private var random: SplitMix64
  /// Whether no more processes are killed.
  private let isFinishing = CancellationFlag()
  /// Whether the readers end.
  private let isChecked = CancellationFlag()

  /// - Parameter run: a new run.
  package init(_ configuration: Configuration, on run: ChaosRun) throws {
    self.configuration = configuration
    self.run = run
    data = "\(run.folder)/data"
    definitions = try StormDefinitions(in: run.folder)
    random = SplitMix64(seed: configuration.seed)
    fleet = StormFleet(
      run, data: data, definition: definitions.moment,
      failpoints: StormFailpoints(configuration.failpoints, seed: random.next()))
    commands = StormCommands(
      run, data: data, definitions: definitions.changed,
      failpoints: StormFailpoints(configuration.failpoints, seed: random.next()))
    reader = StormReader(definitions.roles, port: fleet.port)
  }

  /// Runs the storm and checks the result.
  package func run(_ report: @escaping @Sendable (String) -> Void = { _ in }) async throws -> ReprocessReport {
    let startTime = ContinuousClock.now
    try await fleet.start(workers: Self.workers)
    let monitoring = Task { [fleet] in try await fleet.monitor() }
    let media = try await submitMedia()
    report("\(media.count) posts and images are stored, after \(Self.seconds(since: startTime)) s")
    try await reader.readAll(media, readers: Self.readers, isChanged: false)
    let before = reader.counts
    let reading = readers(of: media)

    await fleet.setFailing(true)
    let injecting = Task { try await injectFaults() }
    var violations: [String] = []
    var rounds: [ReprocessRound] = []
    var killed = 0
    repeat {
      let round = rounds.count < ReprocessRound.usual.count ? ReprocessRound.usual[rounds.count] : .forced
      rounds.append(round)
      if try await !commands.perform(round, within: .seconds(300)) {
        violations.append("the runs of round \(rounds.count) did not finish")
      }
      killed = await fleet.kills.values.reduce(0, +) + commands.kills
      report("round \(rounds.count), \(round.title): \(killed) killed, after \(Self.seconds(since: startTime)) s")
    } while violations.isEmpty && (rounds.count < ReprocessRound.usual.count || killed < configuration.kills)
    isFinishing.cancel()
    try await injecting.value
    await fleet.setFailing(false)

    let evidence = ReprocessEvidence(
      run: run, blobs: "\(data)/blobs", media: media, rounds: rounds,
      versions: definitions.roles.mapValues(\.changedVersion))
    try await reader.readAll(media, readers: Self.readers, isChanged: true)
    violations += try await evidence.violationsBeforeCollection()
    violations += try await command("gc", ["gc", "--grace", "0"])
    violations += try await command("verify", ["verify", "--deep"])
    violations += try await evidence.violationsAfterCollection()
    isChecked.cancel()
    try await reading.value
    monitoring.cancel()
    _ = await monitoring.result
    violations += await fleet.end().map { "\($0) did not end" }
    violations += reader.violations
    return try await self.report(
      media, rounds, evidence, before: before, duration: startTime.duration(to: .now), violations: violations)
  }

  // MARK: Media

  /// Submits all media and waits until they are ready.
  private func submitMedia() async throws -> [StormMedium] {
    let material = try StormMaterial()
    let client = PostClient(port: fleet.port)
    let posts = configuration.posts
    let count = posts + configuration.images
    let media = try await withThrowingTaskGroup(of: [StormMedium].self) { group in
      for first in 0..<Self.clients {
        group.addTask {
          var media: [StormMedium] = []
          for number in stride(from: first, to: count, by: Self.clients) {
            let submission = material.submission(number, posts: posts)
            let id = try await client.submit(submission.form, to: submission.path, key: "medium-\(number)")
            media.append(StormMedium(sources: submission.sources, id: id))
          }
          return media
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    guard await run.waitForNone("unfinished_media", within: .seconds(600)) else {
      throw ServiceFailure("the submitted media did not finish")
    }
    return media
  }

  private func readers(of media: [StormMedium]) -> Task<Void, any Error> {
    let seeds = (0..<Self.readers).map { _ in random.next() }
    return Task { [reader, isChecked] in
      try await withThrowingTaskGroup { group in
        for seed in seeds { group.addTask { try await reader.poll(media, seed: seed, until: isChecked) } }
        try await group.waitForAll()
      }
    }
  }

  // MARK: Faults

  /// Kills one process after the other until `isFinishing`.
  private func injectFaults() async throws {
    while !isFinishing.isCancelled {
      try await Task.sleep(for: .milliseconds(Int.random(in: configuration.pause, using: &random)))
      var choice = SplitMix64(seed: random.next())
      switch Int.random(in: 0..<10, using: &choice) {
      case ..<5: try await fleet.kill(.worker, &choice)
      case ..<7: try await fleet.kill(.service, &choice)
      default: try await commands.kill(&choice)
      }
    }
  }

  // MARK: The end

  /// Runs a command; returns a violation with its output if it fails.
  private func command(_ name: String, _ arguments: [String]) async throws -> [String] {
    let log = "\(run.folder)/\(name).log"
    let process = try ChaosProcess(
      name, path: ProgramPath.take5,
      arguments: arguments + ["--data", data, "--database", run.database.connectionString], log: log)
    let ending = await process.end(within: .seconds(300))
    guard ending != .exited(0) else { return [] }
    let output = String(decoding: try Descriptor(reading: log).contents().suffix(600), as: UTF8.self)
    let result = ending.map { "\($0)" } ?? "a timeout"
    return ["'take5 \(arguments.joined(separator: " "))' ended with \(result): \(output)"]
  }

  private func report(
    _ media: [StormMedium], _ rounds: [ReprocessRound], _ evidence: ReprocessEvidence, before: StormReader.Counts,
    duration: Duration, violations: [String]
  ) async throws -> ReprocessReport {
    let attempts = try await evidence.attempts()
    let kills = await fleet.kills
    let counts = reader.counts
    return ReprocessReport(
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

  private static func seconds(since start: ContinuousClock.Instant) -> Int {
    Int(start.duration(to: .now) / .seconds(1))
  }
}

/// A set of concurrent runs, one for each kind of media.
struct ReprocessRound: Sendable {
  /// The expected outcome of every item.
  enum Outcome: Sendable {
    case done, skipped
  }

  let title: String
  let arguments: [String]
  let outcome: Outcome

  /// By workers, with a changed definition.
  static let changed = ReprocessRound(title: "changed", arguments: [], outcome: .done)
  /// By the command itself, without a change.
  static let local = ReprocessRound(title: "local", arguments: ["--force", "--local", "--slots", "1"], outcome: .done)
  /// By workers, which find that nothing has changed.
  static let again = ReprocessRound(title: "again", arguments: [], outcome: .skipped)
  /// By workers, without a change.
  static let forced = ReprocessRound(title: "forced", arguments: ["--force"], outcome: .done)

  /// The rounds of every storm; `forced` is repeated until enough processes were killed.
  static let usual = [changed, local, again]
}
