import Blobs
import Glibc
import Logging
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import QueueWorker
import Store
import Worker

/// The open store of a command that starts or resumes a run and shows it until it finishes.
struct ReprocessCommand: Sendable {
  let pool: Pool
  let store: Store
  private let arguments: Arguments
  private let slots: Int
  private let media: MediaProcess.Configuration
  private let json: Bool
  private let log: Logger

  /// Opens the store, runs `body` and closes it.
  static func use(
    _ arguments: Arguments, _ body: (ReprocessCommand) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let cores = ThisProcess.processors
    let slots = try arguments.number("--slots") ?? cores
    var media = try MediaProcess.Configuration(arguments)
    // The lowest CPU priority, so that a service on this machine is not slowed.
    media.isBackground = true
    let log = Logger(lowest: .warning)
    let database = try await DatabaseAccess.open(arguments, connections: slots + 1, log: log)
    let command = ReprocessCommand(
      pool: database.pool, store: Store(blobs: ClosedBlobStore()), arguments: arguments, slots: slots, media: media,
      json: arguments.has("--json"), log: log)
    let outcome: Result<ExitStatus, any Error>
    do { outcome = .success(try await body(command)) } catch { outcome = .failure(error) }
    await database.close()
    do {
      return try outcome.get()
    } catch let outage as Outage {
      throw CommandFailure(
        .io, "\(outage)",
        remedy: "repair the cause, then continue the run with 'take5 reprocess resume'")
    } catch let error as PostgresError where error.isTransient {
      throw CommandFailure(
        .unavailable, "\(error)",
        remedy: "a run that was started continues: 'take5 reprocess status' shows its progress")
    }
  }

  /// Checks that this process can use the blobs and its media processes, before it executes a local run; status 74 or 78
  /// if not.
  func checkLocal() async throws {
    _ = try await BlobOptions.open(arguments, pool)
    try await Sandbox.check(media)
  }

  /// Shows the progress of a run until it finishes or a signal arrives. A local run is executed meanwhile.
  func follow(_ id: PublicID, isDetached: Bool, until signals: StopSignals) async throws -> ExitStatus {
    let run = try await pool.run { session in try store.run(id, session) }
    guard let run else { throw Subcommand.runNotFound(id) }
    if isDetached && !run.isLocal {
      let counts = try await pool.run { session in try store.counts(of: run, session) }
      try Console.print(
        json
          ? try JSON.text(ReprocessReport(run, counts))
          : "run \(id) of \(counts.total) items started; 'take5 reprocess status \(id)' shows its progress")
      return .success
    }
    Console.note("run \(id)")
    if !run.isLocal { try await noteWorkers() }
    let stop = CancellationFlag()
    let hasEnded = CancellationFlag()
    let stopping = Task {
      await signals.wait()
      stop.cancel()
    }
    defer { stopping.cancel() }
    let work = run.isLocal ? Task { try await execute(run, stop, hasEnded) } : nil
    let end = try await ReprocessMonitor(pool: pool, store: store).run(id, until: run.isLocal ? hasEnded : stop)
    try await work?.value
    return try report(try await finished(end.run), wasStopped: stop.isCancelled)
  }

  private func execute(_ run: ReprocessRun, _ stop: CancellationFlag, _ hasEnded: CancellationFlag) async throws {
    defer { hasEnded.cancel() }
    let blobs = try await BlobOptions.open(arguments, pool)
    let local = try LocalReprocessing(
      slots: slots, media: media, pool: pool, store: Store(blobs: blobs), blobs: blobs, log: log)
    try await local.run(run, until: stop)
  }

  private func finished(_ run: ReprocessRun) async throws -> ReprocessReport {
    try await pool.run { session in
      try session.snapshot { session in
        guard let run = try store.run(run.id, session) else { throw Subcommand.runNotFound(run.id) }
        return try ReprocessReport(run, limit: 20, store, session)
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
      let state = report.local || report.state == .paused ? "is not finished" : "continues without this command"
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
private struct ReprocessMonitor: Sendable {
  let pool: Pool
  let store: Store

  /// The largest number of items that are noted.
  private static let maxNoted = 20

  /// Returns the run and its counts when it has finished or `stop` is cancelled.
  ///
  /// An item whose attempt fails, and that has another one, is noted once.
  ///
  /// - Parameter stop: ends the monitor, not the run.
  func run(_ id: PublicID, until stop: CancellationFlag) async throws -> (run: ReprocessRun, counts: ReprocessCounts) {
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
        bar.clear()
        return (run, counts)
      }
      try? await Task.sleep(for: .milliseconds(counts.total > 100_000 ? 2000 : 300))
    }
  }

  /// Reads a run, its counts and its items with further attempts in one snapshot; waits for a database that is not reachable.
  private func read(_ id: PublicID) async throws -> (ReprocessRun, ReprocessCounts, [ReprocessReport.Failure]) {
    try await pool.run(timeout: .seconds(60)) { session in
      try session.snapshot { session in
        guard let run = try store.run(id, session) else { throw Subcommand.runNotFound(id) }
        let retried = try store.retriedItems(of: run, limit: Self.maxNoted, session)
        return (run, try store.counts(of: run, session), retried.map(ReprocessReport.Failure.init))
      }
    }
  }

  private static func text(_ rate: Double) -> String {
    rate >= 10 ? "\(Int(rate.rounded()))" : "\((rate * 10).rounded() / 10)"
  }
}
