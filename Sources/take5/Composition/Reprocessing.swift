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

/// What the verbs that begin a run, or let one go on, have in common: the store, and following the run to its end.
struct Reprocessing: Sendable {
  let pool: Pool
  let store: Store
  private let arguments: Arguments
  private let slots: Int
  private let media: MediaProcess.Configuration
  private let json: Bool
  private let log: Logger

  /// Opens the store for one thing, and closes it again.
  static func use(
    _ arguments: Arguments, _ body: (Reprocessing) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let slots = try arguments.number("--slots", in: 1...256) ?? cores
    var media = MediaProcess.Configuration(executable: ThisProcess.executable)
    if let megabytes = try arguments.number("--media-memory", in: 64...65536) {
      media.memoryLimit = UInt64(megabytes) << 20
    }
    // Whoever serves on this machine comes first.
    media.isBackground = true
    let log = Logger(lowest: .warning)
    let database = try await DatabaseAccess.open(arguments, connections: slots + 1, log: log)
    let reprocessing = Reprocessing(
      pool: database.pool, store: Store(blobs: ClosedBlobStore()), arguments: arguments, slots: slots, media: media,
      json: arguments.has("--json"), log: log)
    let outcome: Result<ExitStatus, any Error>
    do { outcome = .success(try await body(reprocessing)) } catch { outcome = .failure(error) }
    await database.close()
    do {
      return try outcome.get()
    } catch let outage as Outage {
      throw CommandFailure(
        .io, "\(outage)",
        remedy: "see to it, then go on with 'take5 reprocess resume': what was not made waits")
    } catch let error as PostgresError where error.isTransient {
      throw CommandFailure(
        .unavailable, "\(error)", remedy: "a run that began goes on: 'take5 reprocess status' tells where it stands")
    }
  }

  /// Looks whether the blobs are there, before anything is begun that needs them here; status 74 if not.
  func checkBlobs() async throws { _ = try await BlobFolder.open(arguments, pool) }

  /// Shows how a run comes along until it is over, or a signal comes; a local one is carried out meanwhile.
  func follow(_ id: PublicID, isDetached: Bool, until signals: StopSignals) async throws -> ExitStatus {
    let run = try await pool.run { session in try store.run(id, session) }
    guard let run else { throw Subcommand.noRun(id) }
    if isDetached && !run.isLocal {
      let counts = try await pool.run { session in try store.counts(of: run, session) }
      try Console.print(
        json
          ? try JSON.text(ReprocessReport(run, counts))
          : "run \(id) of \(counts.total) began; 'take5 reprocess status \(id)' tells where it stands")
      return .done
    }
    Console.note("run \(id)")
    if !run.isLocal { try await noteWorkers() }
    let stop = CancellationFlag()
    let isOver = CancellationFlag()
    let stopping = Task {
      await signals.wait()
      stop.cancel()
    }
    defer { stopping.cancel() }
    let work = run.isLocal ? Task { try await carryOut(run, stop, isOver) } : nil
    let end = try await ReprocessWatching(pool: pool, store: store).run(id, until: run.isLocal ? isOver : stop)
    try await work?.value
    return try report(try await finished(end.run), wasStopped: stop.isCancelled)
  }

  private func carryOut(_ run: ReprocessRun, _ stop: CancellationFlag, _ isOver: CancellationFlag) async throws {
    defer { isOver.cancel() }
    let blobs = try await BlobFolder.open(arguments, pool)
    let local = try LocalReprocessing(
      slots: slots, media: media, pool: pool, store: Store(blobs: blobs), blobs: blobs, log: log)
    try await local.run(run, until: stop)
  }

  private func finished(_ run: ReprocessRun) async throws -> ReprocessReport {
    try await pool.run { session in
      try session.snapshot { session in
        guard let run = try store.run(run.id, session) else { throw Subcommand.noRun(run.id) }
        var report = ReprocessReport(run, try store.counts(of: run, session))
        report.failures = try store.failures(of: run, limit: 20, session).map {
          ReprocessReport.Failure(id: $0.subject.id, error: $0.error)
        }
        return report
      }
    }
  }

  private func report(_ report: ReprocessReport, wasStopped: Bool) throws -> ExitStatus {
    try Console.print(json ? try JSON.text(report) : ReprocessReport.text(report.items))
    if !json {
      for failure in report.failures ?? [] { Console.note("take5: \(failure.id): \(failure.error)") }
      if report.items.failed > (report.failures?.count ?? 0) {
        Console.note("       'take5 reprocess status \(report.id) --limit 1000' tells of more")
      }
    }
    guard report.state.isOver else {
      let goesOn = report.local || report.state == .paused ? "waits" : "goes on without this command"
      Console.note("take5: run \(report.id) \(goesOn); 'take5 reprocess resume \(report.id)' follows it again")
      return wasStopped ? .interrupted : .rejected
    }
    return report.items.failed + report.items.cancelled == 0 ? .done : .rejected
  }

  /// A run without workers would stand still, and nobody would know why.
  private func noteWorkers() async throws {
    let workers = try await pool.run { session in try JobQueue.workers(session).count(where: \.isAlive) }
    if workers == 0 {
      Console.note("take5: no worker is running: the run begins when one does, 'take5 worker', or do it with --local")
    }
  }
}
