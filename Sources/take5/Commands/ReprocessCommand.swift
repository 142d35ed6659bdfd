import Blobs
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import Store
import Telemetry

/// The open store of a command that starts or resumes a run and shows it until it finishes.
struct ReprocessCommand: Sendable {
  let pool: Pool
  private let arguments: Arguments
  /// Whether this process makes the items, and not the workers alone.
  private let isLocal: Bool
  private let slots: Int
  private let media: MediaProcess.Configuration
  private let json: Bool

  /// Opens the store, runs `body` and closes it.
  static func use(
    _ arguments: Arguments, _ body: (ReprocessCommand) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let slots = try arguments.number("--slots") ?? ThisProcess.processors
    let media = try MediaProcess.Configuration(arguments)
    let database = try await DatabaseAccess.open(
      arguments, connections: slots + RestartingWorker.ownConnections + 1, log: Logger(lowest: .warning))
    let command = ReprocessCommand(
      pool: database.pool, arguments: arguments,
      isLocal: arguments.has("--local"), slots: slots, media: media, json: arguments.has("--json"))
    let outcome: Result<ExitStatus, any Error>
    do { outcome = .success(try await body(command)) } catch { outcome = .failure(error) }
    await database.close()
    do {
      return try outcome.get()
    } catch let error as PostgresError where error.isTransient {
      throw CommandFailure(
        .unavailable, "\(error)",
        remedy: "a run that was started continues: 'take5 reprocess status' shows its progress")
    }
  }

  /// With `--local`: opens the blobs and checks that media processes start, before a run exists; status 74 or 78 if not.
  func openBlobs() async throws -> (any InspectableBlobStore)? {
    guard isLocal else { return nil }
    let blobs = try await BlobOptions.open(arguments, pool)
    try await Sandbox.check(media)
    return blobs
  }

  /// Shows the progress of a run until it finishes or a signal arrives.
  ///
  /// - Parameter blobs: for a worker of this process, which runs meanwhile; nil: there is none.
  func follow(
    _ id: PublicID, with blobs: (any InspectableBlobStore)?, isDetached: Bool, until signals: StopSignals
  ) async throws -> ExitStatus {
    guard !isDetached else {
      let report = try await finished(id)
      try Console.print(
        json
          ? try JSON.text(report)
          : "run \(id) of \(report.total) items started; 'take5 reprocess status \(id)' shows its progress")
      return .success
    }
    Console.note("run \(id)")
    let stop = CancellationFlag()
    let stopping = Task {
      await signals.wait()
      stop.cancel()
    }
    defer { stopping.cancel() }
    let monitor = ReprocessMonitor(pool: pool)
    if let blobs {
      try await RestartingWorker.reprocessing(slots: slots, media: media, pool: pool, blobs: blobs) {
        try await monitor.run(id, until: stop)
      }
    } else {
      try await noteWorkers()
      try await monitor.run(id, until: stop)
    }
    return try report(try await finished(id), wasStopped: stop.isCancelled)
  }

  private func finished(_ id: PublicID) async throws -> ReprocessReport {
    try await pool.run { session in
      try session.snapshot { session in
        guard let run = try Reprocessing.find(id, session) else { throw Subcommand.runNotFound(id) }
        return try ReprocessReport(run, limit: 20, session)
      }
    }
  }

  private func report(_ report: ReprocessReport, wasStopped: Bool) throws -> ExitStatus {
    try Console.print(json ? try JSON.text(report) : ReprocessReport.text(report.items))
    if !json {
      for failure in report.failures ?? [] { Console.note("take5: \(failure.id): \(failure.error)") }
      if report.items.failed > (report.failures?.count ?? 0) {
        Console.note("       'take5 reprocess status \(report.id) --limit 1000' shows more failures")
      }
    }
    guard report.state.isFinal else {
      let state = isLocal || report.state == .paused ? "is not finished" : "continues without this command"
      Console.note("take5: run \(report.id) \(state); 'take5 reprocess resume \(report.id)' shows or continues it")
      return wasStopped ? .interrupted : .rejected
    }
    return report.items.failed + report.items.cancelled == 0 ? .success : .inconsistent
  }

  /// Prints a note if no worker is running, because the run does not start then.
  private func noteWorkers() async throws {
    let workers = try await pool.run { session in try JobQueue.workers(session).count(where: \.isAlive) }
    if workers == 0 {
      Console.note("take5: no worker is running: start one with 'take5 worker', or use --local")
    }
  }
}

/// Shows the progress of a run, which does not depend on this process.
struct ReprocessMonitor: Sendable {
  let pool: Pool

  /// The largest number of items that are noted.
  private static let maxNoted = 20

  /// Returns when the run has finished or `stop` is cancelled.
  ///
  /// An item whose attempt fails, and that has another one, is noted once.
  ///
  /// - Parameter stop: ends the monitor, not the run.
  func run(_ id: PublicID, until stop: CancellationFlag = CancellationFlag()) async throws {
    let bar = ProgressBar("reprocessing")
    let start = ContinuousClock.now
    var first: Int?
    var noted: Set<PublicID> = []
    while true {
      let (run, counts, retried) = try await read(id)
      for item in retried where noted.count < Self.maxNoted && noted.insert(item.id).inserted {
        bar.clear()
        Console.note("take5: \(item.retry)")
      }
      let finished = counts.ended - (first ?? counts.ended)
      first = first ?? counts.ended
      let seconds = start.duration(to: .now) / .seconds(1)
      let rate = seconds > 1 ? Double(finished) / seconds : 0
      bar.show(
        counts.total == 0 ? 1 : Double(counts.ended) / Double(counts.total),
        stage: "\(counts.ended) of \(counts.total), \(Self.text(rate))/s, \(counts.failed) failed"
          + (run.state == .paused ? ", paused" : ""))
      if run.state.isFinal && counts.started == 0 || stop.isCancelled {
        return bar.clear()
      }
      try? await Task.sleep(for: .milliseconds(counts.total > 100_000 ? 2000 : 300))
    }
  }

  /// Reads a run, its counts and its items with further attempts in one snapshot; waits for a database that is not reachable.
  private func read(_ id: PublicID) async throws -> (ReprocessRun, ReprocessCounts, [ReprocessReport.Failure]) {
    try await pool.run(timeout: .seconds(60)) { session in
      try session.snapshot { session in
        guard let run = try Reprocessing.find(id, session) else { throw Subcommand.runNotFound(id) }
        let retried = try Reprocessing.retriedItems(of: run, limit: Self.maxNoted, session)
        return (run, try Reprocessing.counts(of: run, session), retried.map(ReprocessReport.Failure.init))
      }
    }
  }

  private static func text(_ rate: Double) -> String {
    rate >= 10 ? "\(Int(rate.rounded()))" : "\((rate * 10).rounded() / 10)"
  }
}
