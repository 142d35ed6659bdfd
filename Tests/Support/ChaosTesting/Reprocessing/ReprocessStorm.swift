import Model
package import Platform
import SeededRandom
import WaitTesting

/// A storm over reprocessing: stored media are reprocessed with a changed definition while `take5 serve`, `take5
/// worker` and `take5 reprocess` are killed, and while readers check the media.
package struct ReprocessStorm: Sendable {
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

  private static let workers = 2
  private static let clients = 4
  private static let readers = 2

  package init(seed: UInt64) { self.seed = seed }

  /// Runs the storm and checks the result.
  ///
  /// - Parameters:
  ///   - run: a new run.
  ///   - report: receives the progress.
  package func run(on run: ChaosRun, _ report: @Sendable (String) -> Void = { _ in }) async throws -> StormReport {
    let startTime = ContinuousClock.now
    func seconds() -> Int { Int(startTime.duration(to: .now) / .seconds(1)) }
    var random = SplitMix64(seed: seed)
    let data = "\(run.folder)/data"
    let definitions = try StormDefinitions(in: run.folder)
    let client = try PostClient()
    let names = failpoints.map(\.name)
    let fleet = Fleet(run, lease: .seconds(2), seed: random.next()) { _, random, _ in
      random.failpointOfReprocessing(names)
    }
    let commands = StormCommands(run, data: data, definitions: definitions, failpoints: names, seed: random.next())
    let options = ["--data", data, "--lease", "2", "--drain", "2", "--background-slots", "2", "--log-format", "text"]
    let serve = ["serve", "--listen", "127.0.0.1:\(client.port)", "--slots", "0", "--definition", definitions.moment]
    try await fleet.add(.service, 1, serve + options)
    // The service creates the schema before the first worker needs it.
    try await client.waitForService()
    for number in 1...Self.workers { try await fleet.add(.worker, number, ["worker"] + options) }
    let media = try await submitMedia(client, run)
    report("\(media.count) posts and images are stored, after \(seconds()) s")
    let reader = StormReader(definitions.roles, client)
    try await reader.readAll(media, readers: Self.readers, isChanged: false)
    let before = reader.counts
    let isChecked = CancellationFlag()
    let reading = (0..<Self.readers).map { _ in
      let seed = random.next()
      return Task { try await reader.poll(media, seed: seed, until: isChecked) }
    }
    await fleet.setFailing(true)
    let isFinishing = CancellationFlag()
    let injecting = Task { [seed = random.next()] in try await kill(fleet, commands, seed: seed, until: isFinishing) }
    var violations: [String] = []
    var rounds: [ReprocessRound] = []
    var killed = 0
    let deadline = Deadline("all kills", within: .seconds(3600))
    repeat {
      try deadline.check()
      let round = rounds.count < ReprocessRound.usual.count ? ReprocessRound.usual[rounds.count] : .forced
      rounds.append(round)
      if try await !commands.perform(round, within: .seconds(300)) {
        violations.append("the runs of round \(rounds.count) did not finish")
      }
      killed = await fleet.kills.values.reduce(0, +) + commands.kills
      report("round \(rounds.count), \(round.title): \(killed) killed, after \(seconds()) s")
    } while violations.isEmpty && (rounds.count < ReprocessRound.usual.count || killed < kills)
    isFinishing.cancel()
    try await injecting.value
    try await fleet.repair()
    // Processes with failpoints that have not been reached could still end.
    await fleet.renew()

    let evidence = ReprocessEvidence(
      run: run, blobs: "\(data)/blobs", media: media, rounds: rounds,
      versions: definitions.roles.mapValues(\.changedVersion))
    try await reader.readAll(media, readers: Self.readers, isChanged: true)
    violations += try await evidence.violationsBeforeCollection()
    violations += try await run.violations(ofRunning: ["gc", "--grace", "0", "--released-pause", "0", "--data", data])
    violations += try await run.violations(ofRunning: ["verify", "--deep", "--data", data])
    violations += try await evidence.violationsAfterCollection()
    isChecked.cancel()
    for task in reading { try await task.value }
    violations += await run.waitingRows()
    violations += try await fleet.end([.service, .worker], within: .seconds(30))
    violations += reader.violations
    let read = (media: reader.counts.media - before.media, files: reader.counts.files - before.files)
    if read.media == 0 { violations.append("nothing was read while processes were killed") }
    let (attempts, lost) = try await evidence.attempts()
    let done = rounds.count(where: \.isDone)
    let numbers = StormMedium.Kind.allCases.map { kind in
      "\(media.count { $0.sources.kind == kind }) \(kind.title)"
    }
    let (byRole, ofCommands) = (await fleet.kills, await commands.kills)
    return StormReport(
      [
        ("stored", "\(media.count): \(numbers.joined(separator: ", "))"),
        ("runs", "\(rounds.count * StormMedium.Kind.allCases.count), each resumed until it was completed"),
        ("items", "\(done * media.count) replaced, \((rounds.count - done) * media.count) already current, 0 failed"),
        (
          "processes killed",
          "\(killed): \(byRole[.worker] ?? 0) workers, \(byRole[.service] ?? 0) services, \(ofCommands) commands"
        ),
        ("attempts by workers", "\(attempts), of which \(lost) were lost with their worker"),
        ("read concurrently", "\(read.media) posts and images with \(read.files) files"),
      ], since: startTime, "mixed, missing, made twice or orphaned", violations)
  }

  /// Submits all media and waits until they are ready.
  private func submitMedia(_ client: PostClient, _ run: ChaosRun) async throws -> [StormMedium] {
    let material = try StormMaterial()
    let count = posts + images
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

  /// Kills one process after the other until `end`.
  private func kill(
    _ fleet: Fleet, _ commands: StormCommands, seed: UInt64, until end: CancellationFlag
  ) async throws {
    var random = SplitMix64(seed: seed)
    let deadline = Deadline("the end of the storm", within: .seconds(3600))
    while !end.isCancelled {
      try deadline.check()
      try await Task.sleep(for: .milliseconds(Int.random(in: pause, using: &random)))
      switch Int.random(in: 0..<10, using: &random) {
      case ..<5: try await fleet.inject(.kill, into: .worker)
      case ..<7: try await fleet.inject(.kill, into: .service)
      default: try await commands.kill(random.next())
      }
    }
  }
}
