import FoundationEssentials
import Model
import Queue

/// The state of the queue, as `take5 jobs stats` prints it.
struct QueueReport: Encodable {
  struct Holder: Encodable {
    let kind: String
    let name: String
    let application: String
    let state: String
    let seconds: Double?
    let transactions: Int
  }

  struct Table: Encodable {
    let table: String
    let live: Int
    let dead: Int
  }

  let depths: [QueueDepth]
  let lastHour: [QueueFigures.Finished]
  let lastDay: [QueueFigures.Finished]
  let workers: [QueueFigures.Worker]
  let horizon: [Holder]
  let tables: [Table]

  init(
    depths: [QueueDepth], hour: [FinishedJobs], day: [FinishedJobs], workers: [WorkerRecord], health: QueueHealth
  ) {
    self.depths = depths.inOrder
    lastHour = hour.map { QueueFigures.Finished($0, seconds: 3600) }
    lastDay = day.map { QueueFigures.Finished($0, seconds: 86_400) }
    self.workers = workers.map(QueueFigures.Worker.init)
    horizon = health.holders.map {
      Holder(
        kind: $0.kind.rawValue, name: $0.name, application: $0.application, state: $0.state, seconds: $0.seconds,
        transactions: $0.transactions)
    }
    tables = health.tables.map { Table(table: $0.table, live: $0.live, dead: $0.dead) }
  }

  /// The report as text.
  var text: String {
    let parts = [
      depthLines, Self.lines(lastHour, "LAST HOUR"), Self.lines(lastDay, "LAST DAY"), workerLines, recentLines,
      vacuumLines,
    ]
    return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  /// The number of jobs for each queue, kind and state.
  var depthLines: [String] {
    var table = TextTable("QUEUE", "KIND", "STATE", "JOBS", "OLDEST", "ATTEMPTS", "LOST LEASES")
    for depth in depths {
      table.add(
        depth.queue, depth.kind, depth.state.rawValue, "\(depth.jobs)", DurationText.text(depth.oldestSeconds),
        "\(depth.attempts)", "\(depth.lost)")
    }
    return table.isEmpty ? ["the queue is empty"] : table.lines
  }

  private static func lines(_ kinds: [QueueFigures.Finished], _ title: String) -> [String] {
    var table = TextTable(
      title, "ACCEPTED", "REJECTED", "CANCELLED", "PER SECOND", "ATTEMPTS", "LOST LEASES", "P50", "P95", "P99")
    for kind in kinds {
      table.add(
        kind.kind, "\(kind.accepted)", "\(kind.rejected)", "\(kind.cancelled)", VerdictText.rounded(kind.perSecond),
        "\(kind.attempts)", "\(kind.lost)", kind.p50Seconds.map(DurationText.text),
        kind.p95Seconds.map(DurationText.text), kind.p99Seconds.map(DurationText.text))
    }
    return table.isEmpty ? ["\(title.lowercased()): no jobs finished"] : table.lines
  }

  private var workerLines: [String] {
    var table = TextTable("WORKER", "HOST", "PROCESS", "ALIVE", "LAST HEARTBEAT", "SLOTS", "JOBS", "STARTED")
    for worker in workers {
      table.add(
        "\(worker.number)", worker.host, "\(worker.process)", worker.isAlive ? "yes" : "no",
        DurationText.text(worker.beatAgeSeconds), worker.slots.map { "\($0)" }, "\(worker.jobs)",
        JSON.text(of: worker.startedAt))
    }
    return table.isEmpty ? ["no workers"] : table.lines
  }

  /// What each worker has done, for the question which one is slow.
  private var recentLines: [String] {
    var table = TextTable(
      "LAST HOUR OF WORKER", "HOST", "PROCESS", "KIND", "COMPLETED", "FAILED", "LOST", "P50", "P95")
    for worker in workers {
      for recent in worker.lastHour {
        table.add(
          "\(worker.number)", worker.host, "\(worker.process)", recent.kind, "\(recent.completed)", "\(recent.failed)",
          "\(recent.lost)", recent.p50Seconds.map(DurationText.text), recent.p95Seconds.map(DurationText.text))
      }
    }
    return table.isEmpty ? [] : table.lines
  }

  private var vacuumLines: [String] {
    var table = TextTable("TABLE", "LIVE ROWS", "DEAD ROWS")
    for rows in tables { table.add(rows.table, "\(rows.live)", "\(rows.dead)") }
    let holders = horizon.map { holder in
      let details = [holder.application, holder.state].filter { !$0.isEmpty }.joined(separator: ", ")
      let duration =
        holder.seconds.map { "for " + DurationText.text($0) }
        ?? "for \(CountText.text(holder.transactions, "transaction"))"
      return "dead rows cannot be removed because of \(holder.kind) \(holder.name) (\(details)) \(duration)"
    }
    return table.lines + holders
  }
}
