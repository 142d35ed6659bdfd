import Glibc
internal import Postgres

/// One run: each contestant does the same, one after the other, before the next thing is measured.
struct QueueStage {
  /// Jobs whose latency counts, after some that warm up.
  private static let timed = (warm: 20, counted: 400)

  let server: QueueServer
  let programs: QueuePrograms
  let progress: (String) -> Void

  /// - Parameter contestants: in the order of their turns.
  func run(_ contestants: [QueueContestant]) throws -> QueueRun {
    var run = QueueRun()
    var databases: [String: DatabaseURL] = [:]
    for contestant in contestants {
      progress("\(contestant.name), warming up")
      databases[contestant.name] = try prepare(contestant)
    }
    func eachInTurn(_ what: String, _ body: (QueueContestant, DatabaseURL, inout QueueResult) throws -> Void) throws {
      for contestant in contestants {
        guard let database = databases[contestant.name] else { continue }
        progress("\(contestant.name), \(what)")
        try body(contestant, database, &run[contestant])
      }
    }
    try eachInTurn("one by one") { contestant, database, result in
      result.single = try rate(contestant, .single, contestant.singles, database)
      // They are not what is drained later: jobs that came one by one may lie differently.
      _ = try drain(contestant, contestant.singles, database)
      try server.settle(database, vacuums: true)
    }
    try eachInTurn("many at once") { contestant, database, result in
      result.bulk = try rate(contestant, .bulk, contestant.jobs, database)
      try server.settle(database)
      let before = try server.cost(of: database)
      result.drain = try drain(contestant, contestant.jobs, database)
      result.cost = try server.cost(of: database).since(before, jobs: contestant.jobs)
      try server.settle(database, vacuums: true)
    }
    try eachInTurn("an idle worker") { contestant, database, result in
      result.latency = try latency(contestant, database)
    }
    try eachInTurn("beside a snapshot") { contestant, database, result in
      _ = try rate(contestant, .bulk, contestant.jobs, database)
      try server.settle(database)
      result.pinnedDrain = try server.pinning(database) { try drain(contestant, contestant.jobs, database) }
      try server.settle(database, vacuums: true)
    }
    for contestant in contestants { try server.drop(contestant.name) }
    return run
  }

  private func prepare(_ contestant: QueueContestant) throws -> DatabaseURL {
    let database = try server.make(contestant.name)
    _ = try QueueProgram.answer(of: programs.command(contestant, .install, 0, in: database))
    _ = try rate(contestant, .single, 100, database)
    _ = try rate(contestant, .bulk, 1000, database)
    _ = try drain(contestant, 1100, database)
    try server.settle(database, vacuums: true)
    return database
  }

  private func rate(
    _ contestant: QueueContestant, _ measure: QueueMeasure, _ count: Int, _ database: DatabaseURL
  ) throws -> Double {
    try QueueProgram.answer(of: programs.command(contestant, measure, count, in: database)).rate(of: count)
  }

  /// Every job must be in the history afterwards.
  private func drain(_ contestant: QueueContestant, _ count: Int, _ database: DatabaseURL) throws -> Double {
    let before = try server.number(contestant.completed, in: database)
    let rate = try rate(contestant, .drain, count, database)
    let ended = try server.number(contestant.completed, in: database) - before
    guard ended == count else {
      throw BenchError("of \(count) jobs \(contestant.title) has \(ended) in its history", status: EX_DATAERR)
    }
    return rate
  }

  private func latency(_ contestant: QueueContestant, _ database: DatabaseURL) throws -> Statistics {
    let count = Self.timed.warm + Self.timed.counted
    let worker = try QueueProgram(programs.command(contestant, .worker, count, in: database))
    // A first job, of which the worker tells: from then on it waits.
    _ = try QueueProgram.answer(of: programs.command(contestant, .producer, 0, in: database))
    guard try worker.answer().ready == true else { throw BenchError("the worker is not ready", status: EX_PROTOCOL) }
    _ = try QueueProgram.answer(of: programs.command(contestant, .producer, count, in: database))
    let latencies = try worker.answer().latencies ?? []
    try worker.end()
    guard latencies.count == count else {
      throw BenchError("\(latencies.count) of \(count) jobs were told of", status: EX_PROTOCOL)
    }
    return Statistics(Array(latencies.dropFirst(Self.timed.warm)))
  }
}
