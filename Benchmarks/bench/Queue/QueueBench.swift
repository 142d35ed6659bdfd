import Glibc
internal import Platform
internal import Postgres

/// Measures take5's queue and others alternately, on one PostgreSQL.
struct QueueBench: Sendable {
  let folder: String
  let runs: Int
  /// The path of take5; nil: in the folder of this program.
  let take5: String?

  /// All figures, those with a goal first.
  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let programs = try Programs(take5: take5)
    let footage = try await PhoneFootage(folder: folder, progress: Console.progress)
    let latencies = try await onThread("bench-reprocessing") {
      try ReprocessingLatency(programs: programs, footage: footage, folder: folder).measure(blocks: runs)
    }
    let figures = QueueFigures(runs: try await onThread("bench-queue") { try measure() }, latencies: latencies)
    return (figures.figures, figures.observations)
  }

  // On one thread: the programs and the server end with the thread that started them.
  private func measure() throws -> [QueueRun] {
    let directory = "\(folder)/queue"
    try Folder.remove(directory)
    try Folder.make(directory)
    let programs = try QueuePrograms(environment: "\(folder)/peers", folder: try Folder.resolved(directory))
    let server = try QueueServer(folder: "\(directory)/data")
    defer { server.stop() }
    let backlogs = try QueueBacklogs(server, programs)
    var results: [QueueRun] = []
    for number in 0..<runs {
      let stage = QueueStage(server: server, programs: programs) { text in
        Console.progress("run \(number + 1) of \(runs): \(text)")
      }
      // Another contestant starts each run.
      let order = QueueContestant.all.indices.map {
        QueueContestant.all[($0 + number) % QueueContestant.all.count]
      }
      var run = try stage.run(order)
      (run.claimsOfThousand, run.claimsOfMillion) = try backlogs.claims(thousandFirst: number % 2 == 0)
      results.append(run)
    }
    try backlogs.drop()
    server.stop()
    try Folder.remove("\(directory)/data")
    return results
  }
}

/// Two databases of take5 with backlogs of different sizes, to compare the time of a claim.
struct QueueBacklogs {
  private static let waiting = (thousand: 1000, million: 1_000_000)
  /// The claims that are timed in each database.
  private static let claims = 100

  private let server: QueueServer
  private let programs: QueuePrograms
  private let thousand: DatabaseURL
  private let million: DatabaseURL

  init(_ server: QueueServer, _ programs: QueuePrograms) throws {
    self.server = server
    self.programs = programs
    func make(_ name: String, _ jobs: Int) throws -> DatabaseURL {
      Console.progress("enqueueing \(jobs) jobs")
      let database = try server.make(name)
      for (measure, count) in [(QueueMeasure.install, 0), (.bulk, jobs)] {
        _ = try QueueProgram.reply(of: programs.command(.take5, measure, count, in: database))
      }
      try server.checkpoint(database, vacuums: true)
      return database
    }
    thousand = try make("waiting_thousand", Self.waiting.thousand)
    million = try make("waiting_million", Self.waiting.million)
  }

  /// Returns the times of claims in both databases, in milliseconds.
  func claims(thousandFirst: Bool) throws -> (thousand: Statistics, million: Statistics) {
    func measure(_ database: DatabaseURL) throws -> Statistics {
      let reply = try QueueProgram.reply(of: programs.command(.take5, .claims, Self.claims, in: database))
      guard let times = reply.latencies, times.count == Self.claims else {
        throw BenchError("the program did not report every claim", status: EX_PROTOCOL)
      }
      return Statistics(times)
    }
    if thousandFirst {
      let first = try measure(thousand)
      return (first, try measure(million))
    }
    let first = try measure(million)
    return (try measure(thousand), first)
  }

  func drop() throws {
    for database in [thousand, million] { try server.drop(database.database ?? "") }
  }
}
