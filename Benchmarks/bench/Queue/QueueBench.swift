internal import Platform

/// Measures our queue and others on one PostgreSQL, in turns.
struct QueueBench: Sendable {
  let folder: String
  let runs: Int

  /// The program that makes stored moments again, beside this one unless told.
  let take5: String?

  /// All figures, those with a goal first.
  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let programs = try Programs(take5: take5)
    let footage = try await PhoneFootage(folder: folder, progress: Console.progress)
    let waits = try await onThread("bench-waits") {
      try ReprocessingLatency(programs: programs, footage: footage, folder: folder).measure(blocks: runs)
    }
    let figures = QueueFigures(runs: try await onThread("bench-queue") { try measure() }, waits: waits)
    return (figures.judged, figures.observed)
  }

  // On one thread, which the programs and the server end with.
  private func measure() throws -> [QueueRun] {
    let place = "\(folder)/queue"
    try Folder.remove(place)
    try Folder.make(place)
    let programs = try QueuePrograms(environment: "\(folder)/peers", folder: try Folder.resolved(place))
    let server = try QueueServer(folder: "\(place)/data")
    defer { server.stop() }
    let backlogs = try QueueBacklogs(server, programs)
    var results: [QueueRun] = []
    for number in 0..<runs {
      let stage = QueueStage(server: server, programs: programs) { text in
        Console.progress("run \(number + 1) of \(runs): \(text)")
      }
      // Whoever comes first is another each time.
      let order = QueueContestant.all.indices.map {
        QueueContestant.all[($0 + number) % QueueContestant.all.count]
      }
      var run = try stage.run(order)
      (run.claimsOfThousand, run.claimsOfMillion) = try backlogs.claims(thousandFirst: number % 2 == 0)
      results.append(run)
    }
    try backlogs.drop()
    server.stop()
    try Folder.remove("\(place)/data")
    return results
  }
}
