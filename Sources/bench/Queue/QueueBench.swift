internal import Platform
internal import Postgres

/// Measures our queue and others on one PostgreSQL, in turns.
struct QueueBench: Sendable {
  private static let waiting = (thousand: 1000, million: 1_000_000)
  private static let claims = 100

  let folder: String
  let runs: Int

  /// All figures, those with a goal first.
  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let figures = QueueFigures(runs: try await onThread("bench-queue") { try measure() })
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
    let backlogs = try Backlogs(server, programs)
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
      (run.claimsOfThousand, run.claimsOfMillion) = try backlogs.claims(Self.claims, thousandFirst: number % 2 == 0)
      results.append(run)
    }
    server.stop()
    try Folder.remove("\(place)/data")
    return results
  }

  /// Two databases of ours, in which more or fewer jobs wait.
  private struct Backlogs {
    let programs: QueuePrograms
    let thousand: DatabaseURL
    let million: DatabaseURL

    init(_ server: QueueServer, _ programs: QueuePrograms) throws {
      self.programs = programs
      func make(_ name: String, _ jobs: Int) throws -> DatabaseURL {
        Console.progress("enqueueing \(jobs) jobs")
        let database = try server.make(name)
        for (measure, count) in [(QueueMeasure.install, 0), (.bulk, jobs)] {
          _ = try QueueProgram.answer(of: programs.command(.take5, measure, count, in: database))
        }
        try server.settle(database, vacuums: true)
        return database
      }
      thousand = try make("waiting_thousand", QueueBench.waiting.thousand)
      million = try make("waiting_million", QueueBench.waiting.million)
    }

    func claims(_ count: Int, thousandFirst: Bool) throws -> (thousand: Statistics, million: Statistics) {
      func measure(_ database: DatabaseURL) throws -> Statistics {
        let answer = try QueueProgram.answer(of: programs.command(.take5, .claims, count, in: database))
        return Statistics(answer.latencies ?? [])
      }
      if thousandFirst {
        let first = try measure(thousand)
        return (first, try measure(million))
      }
      let first = try measure(million)
      return (try measure(thousand), first)
    }
  }
}
