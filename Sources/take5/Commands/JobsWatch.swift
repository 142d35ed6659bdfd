import Logging
import Model
import Platform
import Postgres
import Queue

extension Subcommand {
  static let jobsWatch = Subcommand(
    "jobs watch",
    abstract: "Show jobs as they change, until Ctrl-C; a single job until it finishes, with status 0 if accepted.",
    operands: ["[JOB]"],
    options: Option.jobFilter(limit: .jobListLimit) + [
      Option(
        "--interval", "SECONDS", .seconds(0.1...3600), default: "2",
        help: "interval between two queries if no notification arrives")
    ] + Option.storeAccess + Option.listening,
    example: "take5 jobs watch 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { (arguments, signals: StopSignals) in
    let filter = try JobFilter(arguments, limit: try arguments.number("--limit") ?? 20)
    let interval = Duration.seconds(try arguments.seconds("--interval") ?? 2)
    let database = try await DatabaseAccess.open(arguments, connections: 1, log: Logger(lowest: .warning))
    do {
      let view = JobView(json: arguments.has("--json"), redraws: Console.isOutputTerminal)
      let status = try await JobMonitor(filter: filter, interval: interval, database: database, view: view)
        .run(until: signals)
      await database.close()
      return status
    } catch {
      await database.close()
      throw error
    }
  }
}

/// Queries jobs after each notification of a change, and at an interval in case notifications are lost.
private struct JobMonitor: Sendable {
  /// The shortest time between two queries.
  private static let pause = Duration.milliseconds(100)

  let filter: JobFilter
  let interval: Duration
  let database: DatabaseAccess
  let view: JobView

  private final class Notifications: Sendable {
    let wake = WakeUp()
    let changed = Locked<Set<PublicID>>([])
    let isStopped = CancellationFlag()
  }

  /// Shows changes until the selected job finishes or a signal arrives.
  func run(until signals: StopSignals) async throws -> ExitStatus {
    let notifications = Notifications()
    let listener = try Listener(database.url, channels: [QueueChannel.changes, QueueChannel.jobs]) { report in
      if case .notification(let notification) = report, let job = PublicID(notification.payload) {
        notifications.changed.withLock { _ = $0.insert(job) }
      }
      notifications.wake.raise()
    }
    try listener?.start()
    let stopping = Task {
      await signals.wait()
      notifications.isStopped.cancel()
      notifications.wake.raise()
    }
    let outcome: Result<ExitStatus, any Error>
    do { outcome = .success(try await monitor(notifications)) } catch { outcome = .failure(error) }
    stopping.cancel()
    try await onThread("listener-stop") { listener?.stop() }
    return try outcome.get()
  }

  private func monitor(_ notifications: Notifications) async throws -> ExitStatus {
    let named = filter.ids.first
    while !notifications.isStopped.isCancelled {
      let changed = notifications.changed.withLock { ids in
        defer { ids = [] }
        return Array(ids)
      }
      let (depths, jobs) = try await database.pool.run { [filter] session in
        var jobs = try JobQueue.list(filter, session)
        var others = filter
        others.ids = changed.filter { id in !jobs.contains { $0.publicID == id } }
        // Jobs that have changed but are older than the list.
        if named == nil, !others.ids.isEmpty { jobs += try JobQueue.list(others, session) }
        return (named == nil ? try JobQueue.depths(session) : [], jobs)
      }
      try view.show(jobs, depths, max: filter.limit)
      if let named {
        guard let job = jobs.first else { throw Subcommand.jobNotFound(named) }
        if job.state.isFinal { return job.state == .completed && !job.isRejected ? .success : .rejected }
      }
      if Console.isOutputClosed { throw CommandFailure.closedOutput }
      try? await Task.sleep(for: Self.pause)
      await notifications.wake.wait(atMost: interval)
    }
    return named == nil ? .success : .interrupted
  }
}

/// The output of `take5 jobs watch`: a table that is redrawn on a terminal, otherwise a line for each change.
final class JobView: Sendable {
  private let json: Bool
  private let redraws: Bool
  private let state = Locked(State())

  private struct State {
    var known: [PublicID: String] = [:]
    var drawn = 0
  }

  /// - Parameter redraws: whether standard output is a terminal; JSON is never redrawn.
  init(json: Bool, redraws: Bool) {
    self.json = json
    self.redraws = redraws && !json
  }

  /// Shows the present state of jobs; a redrawn table has at most `max` rows.
  func show(_ jobs: [JobRecord], _ depths: [QueueDepth], max: Int) throws {
    let reports = jobs.map(JobReport.init)
    if redraws {
      let summary =
        depths.isEmpty
        ? []
        : QueueReport(
          depths: depths, hour: [], day: [], workers: [], health: QueueHealth(holders: [], tables: [])
        ).depthLines + [""]
      try draw(summary + JobReport.lines(Array(reports.prefix(max))))
    } else {
      try printChanges(reports)
    }
  }

  private func draw(_ lines: [String]) throws(CommandFailure) {
    let width = Console.width(of: 1)
    let text = state.withLock { state in
      defer { state.drawn = lines.count }
      return Self.redrawing(state.drawn, with: lines, width: width)
    }
    try Console.write(text)
  }

  /// The control sequences that replace the lines drawn before with new ones, cut to the width of the terminal.
  static func redrawing(_ drawn: Int, with lines: [String], width: Int) -> String {
    (drawn > 0 ? "\u{1B}[\(drawn)A\u{1B}[J" : "") + lines.map { $0.prefix(width) + "\n" }.joined()
  }

  private func printChanges(_ reports: [JobReport]) throws {
    // Oldest first.
    for report in reports.sorted(by: { $0.id < $1.id }) {
      let line = report.line
      let isNew = state.withLock { state in state.known.updateValue(line, forKey: report.id) != line }
      if isNew { try Console.print(json ? try JSON.text(report) : line) }
    }
  }
}
