import Glibc
import Model
import Platform
import Postgres
package import Queue
import SchemaTesting

/// One run: a database, a folder of ledgers, and the processes into which faults are injected.
package final class ChaosRun: Sendable {
  let server: ChaosServer
  let database: DatabaseURL
  /// Connections without a proxy.
  let pool: Pool
  let timing: ChaosTiming
  /// The folder of ledgers and logs.
  let folder: String
  private let ledger: Ledger
  private let started = Locked(0)

  /// Creates the database.
  ///
  /// - Parameter folder: an empty folder, for ledgers and logs.
  package init(on server: ChaosServer, folder: String, timing: ChaosTiming) async throws {
    self.server = server
    self.folder = folder
    self.timing = timing
    database = try await server.makeDatabase()
    pool = Pool(database, size: 2, timeout: .seconds(20))
    ledger = try Ledger("\(folder)/controller.ledger")
  }

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - failpoints: the value of `TAKE5_FAILPOINTS`.
  ///   - mayStop: whether a job may stop the worker.
  ///   - clockSkew: the error of its clock, in seconds.
  func worker(
    _ name: String, failpoints: String? = nil, mayStop: Bool = false, clockSkew: Int? = nil
  ) throws -> Participant {
    let lease = "\(Int(timing.lease / .milliseconds(1)))"
    return try start(
      .worker, name, ["worker", "--may-stop", mayStop ? "1" : "0", "--lease", lease], failpoints: failpoints,
      clockSkew: clockSkew)
  }

  /// Starts a producer.
  ///
  /// - Parameter predecessor: the producer whose ledger the new one continues.
  func producer(
    _ name: String, jobs: Int, batch: Int = 100, live: Int = 200, operates: Int = 20, seed: UInt64,
    failpoints: String? = nil, predecessor: Participant? = nil, clockSkew: Int? = nil
  ) throws -> Participant {
    try start(
      .producer, name,
      [
        "produce", "--jobs", "\(jobs)", "--batch", "\(batch)", "--live", "\(live)", "--operates", "\(operates)",
        "--seed", "\(seed)",
      ], failpoints: failpoints, ledger: predecessor?.ledger, clockSkew: clockSkew)
  }

  private func start(
    _ role: Participant.Role, _ name: String, _ arguments: [String], failpoints: String?, ledger: String? = nil,
    clockSkew: Int? = nil
  ) throws -> Participant {
    try program(role, name, ProgramPath.chaos, arguments, failpoints: failpoints, clockSkew: clockSkew) { number in
      ledger ?? "\(folder)/\(number)-\(name).ledger"
    }
  }

  /// Starts a program with the options `--database` and, if it has a ledger, `--ledger`.
  func program(
    _ role: Participant.Role, _ name: String, _ path: String, _ arguments: [String], failpoints: String?,
    clockSkew: Int? = nil, environment more: [String: String] = [:], ledger: (Int) -> String? = { _ in nil }
  ) throws -> Participant {
    let number = started.withLock { number in
      number += 1
      return number
    }
    let proxy = try Proxy(upstream: server.socket)
    let ledger = ledger(number)
    let log = "\(folder)/\(number)-\(name).log"
    let url = try proxy.url(database: database.database ?? "", name: name)
    var environment = more
    environment[Failpoints.variable] = failpoints
    if let clockSkew {
      environment["TAKE5_CLOCK_SKEW"] = "\(clockSkew)"
      environment["LD_PRELOAD"] = ProgramPath.clockSkew
    }
    let child = try ChaosProcess(
      name, path: path,
      arguments: arguments + ["--database", url.connectionString] + (ledger.map { ["--ledger", $0] } ?? []),
      environment: environment, log: log)
    return Participant(role, name: name, child: child, proxy: proxy, ledger: ledger ?? "")
  }

  /// Runs `take5` on the database; returns a violation with the end of its output if it fails.
  func violations(
    ofRunning arguments: [String], environment: [String: String] = [:], within limit: Duration = .seconds(300)
  ) async throws -> [String] {
    try await ChaosProcess.violations(
      ofRunning: arguments + ["--database", database.connectionString], environment: environment, in: folder,
      within: limit)
  }

  /// Records the start of a fault in the ledger.
  func record(fault: FaultKind, _ participant: Participant?) throws {
    try ledger.write(.fault(fault, process: participant?.process ?? 0))
  }

  /// Records the end of a fault in the ledger.
  func record(repair: FaultKind, _ participant: Participant?) throws {
    try ledger.write(.repaired(repair, process: participant?.process ?? 0))
  }

  /// Terminates the backends of a participant's connections.
  func terminate(_ participant: Participant) async throws {
    _ = try await pool.run { session in
      try session.execute(ChaosSchema.statements["terminate"], .text(participant.name)).count
    }
  }

  /// Crashes and restarts the server, and records both in the ledger.
  func crash() async throws {
    try record(fault: .crash, nil)
    try await server.crash()
    try await server.restart()
    try record(repair: .crash, nil)
  }

  /// Enqueues jobs with their orders, as a producer does.
  func enqueue(_ jobs: [ChaosJob]) async throws {
    let new = try jobs.map { try $0.job(.now()) }
    try ledger.write(new.map { .intended($0.publicID) })
    try await pool.transaction { session in
      for job in new {
        try session.execute(ChaosSchema.statements["order"], .text(job.publicID.description))
        try JobQueue.enqueue(job, session)
      }
    }
    try ledger.write(new.map { .enqueued($0.publicID) })
  }

  /// The result of a statement that counts; nil while the database does not respond.
  func count(_ statement: String) async -> Int? {
    try? await pool.run { session in try session.execute(ChaosSchema.statements[statement]).single().get(0) }
  }

  /// The number of live jobs; nil while the database does not respond.
  func live() async -> Int? { await count("live") }

  /// Waits until a statement counts no rows; false if that takes longer than `limit`.
  func waitForNone(_ statement: String, within limit: Duration) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if await count(statement) == 0 { return true }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  /// Waits until no job is live; false if that takes longer than `limit`.
  func isFinished(within limit: Duration) async -> Bool { await waitForNone("live", within: limit) }

  /// Waits until no table has rows that something waits for; returns a violation for each that has.
  func waitingRows(within limit: Duration = .seconds(180)) async -> [String] {
    await Self.waitingRows(pool, within: limit)
  }

  static func waitingRows(_ pool: Pool, within limit: Duration = .seconds(180)) async -> [String] {
    let end = ContinuousClock.now + limit
    var found = ["the database was not read"]
    while ContinuousClock.now < end {
      found = (try? await pool.run { try StoredTables.violations($0) }) ?? found
      if found.isEmpty { break }
      try? await Task.sleep(for: .milliseconds(200))
    }
    return found
  }

  /// Reads the evidence of the run.
  func evidence() async throws -> Evidence {
    try await pool.run { [folder] session in try Evidence(folder: folder, session) }
  }

  /// Closes the connections and drops the database.
  func end() async throws {
    await pool.close()
    try await server.drop(database)
  }
}

/// The timeouts of a run, with a short lease, so that many leases expire.
package struct ChaosTiming: Sendable {
  package var lease: Duration
  let reapInterval = Duration.milliseconds(660)

  package init(lease: Duration = .seconds(2)) { self.lease = lease }

  /// The configuration of the workers.
  package var configuration: QueueWorkerConfiguration {
    QueueWorkerConfiguration(
      lease: lease, reapInterval: reapInterval, pollInterval: .milliseconds(100), drain: .milliseconds(300))
  }
}
