import Glibc
internal import Postgres

/// One run: all contestants do one task, one after the other, before the next task is measured.
struct QueueStage {
  /// The jobs whose latency is measured, and those before them, which warm up.
  private static let timed = (warm: 20, counted: 400)

  let server: QueueServer
  let programs: QueuePrograms
  let progress: (String) -> Void

  /// - Parameter contestants: in their order within each task.
  func run(_ contestants: [QueueContestant]) throws -> QueueRun {
    var run = QueueRun()
    var databases: [String: DatabaseURL] = [:]
    for contestant in contestants {
      progress("\(contestant.name), warming up")
      databases[contestant.name] = try prepare(contestant)
    }
    func measureEach(_ task: String, _ body: (QueueContestant, DatabaseURL, inout QueueResult) throws -> Void) throws {
      for contestant in contestants {
        guard let database = databases[contestant.name] else { continue }
        progress("\(contestant.name), \(task)")
        try body(contestant, database, &run[contestant])
      }
    }
    try measureEach("one by one") { contestant, database, result in
      result.single = try rate(contestant, .single, contestant.singles, database)
      // Drained here, because jobs that were enqueued one by one may be stored in another order.
      _ = try drain(contestant, contestant.singles, database)
      try server.checkpoint(database, vacuums: true)
    }
    try measureEach("many at once") { contestant, database, result in
      result.bulk = try rate(contestant, .bulk, contestant.jobs, database)
      try server.checkpoint(database)
      let before = try server.cost(of: database)
      result.drain = try drain(contestant, contestant.jobs, database)
      result.cost = try server.cost(of: database).since(before, jobs: contestant.jobs)
      try server.checkpoint(database, vacuums: true)
    }
    try measureEach("an idle worker") { contestant, database, result in
      result.latency = try latency(contestant, database)
    }
    try measureEach("with a snapshot") { contestant, database, result in
      _ = try rate(contestant, .bulk, contestant.jobs, database)
      try server.checkpoint(database)
      result.snapshotDrain = try server.withSnapshot(database) { try drain(contestant, contestant.jobs, database) }
      try server.checkpoint(database, vacuums: true)
    }
    for contestant in contestants { try server.drop(contestant.name) }
    return run
  }

  private func prepare(_ contestant: QueueContestant) throws -> DatabaseURL {
    let database = try server.make(contestant.name)
    _ = try QueueProgram.reply(of: programs.command(contestant, .install, 0, in: database))
    _ = try rate(contestant, .single, 100, database)
    _ = try rate(contestant, .bulk, 1000, database)
    _ = try drain(contestant, 1100, database)
    try server.checkpoint(database, vacuums: true)
    return database
  }

  private func rate(
    _ contestant: QueueContestant, _ measure: QueueMeasure, _ count: Int, _ database: DatabaseURL
  ) throws -> Double {
    try QueueProgram.reply(of: programs.command(contestant, measure, count, in: database)).rate(of: count)
  }

  /// Returns the jobs per second; throws unless every job is in the history afterwards.
  private func drain(_ contestant: QueueContestant, _ count: Int, _ database: DatabaseURL) throws -> Double {
    let before = try server.number(contestant.completed, in: database)
    let rate = try rate(contestant, .drain, count, database)
    let completed = try server.number(contestant.completed, in: database) - before
    guard completed == count else {
      throw BenchError("of \(count) jobs \(contestant.title) has \(completed) in its history", status: EX_DATAERR)
    }
    return rate
  }

  private func latency(_ contestant: QueueContestant, _ database: DatabaseURL) throws -> Statistics {
    let count = Self.timed.warm + Self.timed.counted
    let worker = try QueueProgram(programs.command(contestant, .worker, count, in: database))
    // The worker reports the first job; from then on it is idle.
    _ = try QueueProgram.reply(of: programs.command(contestant, .producer, 0, in: database))
    guard try worker.reply().ready == true else { throw BenchError("the worker is not ready", status: EX_PROTOCOL) }
    _ = try QueueProgram.reply(of: programs.command(contestant, .producer, count, in: database))
    let latencies = try worker.reply().latencies ?? []
    try worker.end()
    guard latencies.count == count else {
      throw BenchError("the worker reported \(latencies.count) of \(count) jobs", status: EX_PROTOCOL)
    }
    return Statistics(Array(latencies.dropFirst(Self.timed.warm)))
  }
}
