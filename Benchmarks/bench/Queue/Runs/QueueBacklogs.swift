import Glibc
internal import Postgres

/// Two databases of ours, in which more or fewer jobs wait, to see whether a claim feels it.
struct QueueBacklogs {
  private static let waiting = (thousand: 1000, million: 1_000_000)
  /// How many are timed in each.
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
        _ = try QueueProgram.answer(of: programs.command(.take5, measure, count, in: database))
      }
      try server.settle(database, vacuums: true)
      return database
    }
    thousand = try make("waiting_thousand", Self.waiting.thousand)
    million = try make("waiting_million", Self.waiting.million)
  }

  /// How long claims took, in milliseconds, one database after the other.
  func claims(thousandFirst: Bool) throws -> (thousand: Statistics, million: Statistics) {
    func measure(_ database: DatabaseURL) throws -> Statistics {
      let answer = try QueueProgram.answer(of: programs.command(.take5, .claims, Self.claims, in: database))
      guard let times = answer.latencies, times.count == Self.claims else {
        throw BenchError("not every claim was told of", status: EX_PROTOCOL)
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
