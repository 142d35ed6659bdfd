import Glibc
import Model
import Platform
package import Postgres
import Queue

/// One run: a database of its own, a folder of ledgers, and processes that are broken.
package final class ChaosRun: Sendable {
  package let server: ChaosServer
  package let database: DatabaseURL
  /// Past all proxies.
  package let pool: Pool
  package let times: ChaosTimes
  /// Where ledgers and logs lie.
  package let folder: String
  private let ledger: Ledger
  private let started = Locked(0)

  /// Makes the database.
  ///
  /// - Parameter folder: an empty one, for ledgers and logs.
  package init(on server: ChaosServer, folder: String, times: ChaosTimes) async throws {
    self.server = server
    self.folder = folder
    self.times = times
    database = try await server.makeDatabase()
    pool = Pool(database, size: 2, timeout: .seconds(20))
    ledger = try Ledger("\(folder)/controller.ledger")
  }

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - failpoints: what is to happen to it.
  ///   - mayDrain: whether a job may ask it to end.
  ///   - clockSkew: how many seconds its clock is off.
  package func worker(
    _ name: String, failpoints: String? = nil, mayDrain: Bool = false, clockSkew: Int? = nil
  ) throws -> Member {
    try start(
      .worker, name, ["--may-drain", mayDrain ? "1" : "0"] + times.words, failpoints: failpoints,
      clockSkew: clockSkew)
  }

  /// Starts a producer.
  ///
  /// - Parameter heir: of whom it takes over the ledger, and whatever was left open.
  package func producer(
    _ name: String, jobs: Int, batch: Int = 100, live: Int = 200, operates: Int = 20, seed: UInt64,
    failpoints: String? = nil, heir: Member? = nil, clockSkew: Int? = nil
  ) throws -> Member {
    try start(
      .producer, name,
      [
        "--jobs", "\(jobs)", "--batch", "\(batch)", "--live", "\(live)", "--operates", "\(operates)", "--seed",
        "\(seed)",
      ], failpoints: failpoints, ledger: heir?.ledger, clockSkew: clockSkew)
  }

  private func start(
    _ role: Member.Role, _ name: String, _ words: [String], failpoints: String?, ledger: String? = nil,
    clockSkew: Int? = nil
  ) throws -> Member {
    let verb = role == .worker ? "worker" : "produce"
    return try program(
      role, name, ChaosProgram.path, [verb] + words, failpoints: failpoints, clockSkew: clockSkew
    ) { number in
      ledger ?? "\(folder)/\(number)-\(name).ledger"
    }
  }

  /// Starts a program that takes its database by `--database`, and its ledger, if it has one, by `--ledger`.
  func program(
    _ role: Member.Role, _ name: String, _ path: String, _ words: [String], failpoints: String?,
    clockSkew: Int? = nil, ledger: (Int) -> String? = { _ in nil }
  ) throws -> Member {
    let number = started.withLock { number in
      number += 1
      return number
    }
    let proxy = try Proxy(upstream: server.socket)
    let ledger = ledger(number)
    let log = "\(folder)/\(number)-\(name).log"
    let url = try proxy.url(database: database.database ?? "", name: name)
    var environment: [String: String] = [:]
    environment[Failpoints.variable] = failpoints
    if let clockSkew {
      environment["TAKE5_CLOCK_SKEW"] = "\(clockSkew)"
      environment["LD_PRELOAD"] = ChaosProgram.clockSkew
    }
    let child = try ChaosProcess(
      name, path: path,
      arguments: words + ["--database", url.connectionString] + (ledger.map { ["--ledger", $0] } ?? []),
      environment: environment, log: log)
    return Member(role, name: name, child: child, proxy: proxy, ledger: ledger ?? "", log: log)
  }

  /// Writes down that something is being broken.
  package func note(fault: FaultKind, _ member: Member?) throws {
    try ledger.write(.fault(fault, process: member?.process ?? 0))
  }

  /// Writes down that it is whole again.
  package func note(relief: FaultKind, _ member: Member?) throws {
    try ledger.write(.relief(relief, process: member?.process ?? 0))
  }

  /// Ends every connection that a member has with the database, by the database.
  package func terminate(_ member: Member) async throws {
    _ = try await pool.run { session in
      try session.execute(ChaosSchema.statements["terminate"], .text(member.name)).count
    }
  }

  /// Puts jobs into their queues, as an application would.
  package func enqueue(_ jobs: [ChaosJob]) async throws {
    let made = try jobs.map { try $0.job(.now()) }
    try ledger.write(made.map { .intended($0.publicID) })
    try await pool.transaction { session in
      for job in made {
        try session.execute(ChaosSchema.statements["order"], .text(job.publicID.description))
        try JobQueue.enqueue(job, session)
      }
    }
    try ledger.write(made.map { .enqueued($0.publicID) })
  }

  /// How many jobs are not over; nil while the database is away.
  package func live() async -> Int? {
    try? await pool.run { session in try session.execute(ChaosSchema.statements["live"]).single().get(0, as: Int.self) }
  }

  /// Waits until no job is live any more; false if that takes longer than `limit`.
  package func isOver(within limit: Duration) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if await live() == 0 { return true }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  /// All that is known now.
  package func evidence() async throws -> Evidence {
    try await pool.run { [folder] session in try Evidence(folder: folder, session) }
  }

  /// Closes what is open here, and removes the database.
  package func end() async throws {
    await pool.close()
    try await server.drop(database)
  }
}
