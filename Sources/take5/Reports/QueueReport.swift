import FoundationEssentials
import Model
import Queue

/// The state of the queue, as `take5 jobs stats` prints it.
struct QueueReport: Encodable {
  struct Depth: Encodable {
    let queue: String
    let kind: String
    let state: JobState
    let jobs: Int
    let oldestSeconds: Double
    let attempts: Int
    let lost: Int
  }

  struct Finished: Encodable {
    let kind: String
    let accepted: Int
    let rejected: Int
    let cancelled: Int
    let perSecond: Double
    let attempts: Int
    let lost: Int
    let p50Seconds: Double?
    let p95Seconds: Double?
    let p99Seconds: Double?

    init(_ finished: FinishedJobs, seconds: Double) {
      kind = finished.kind
      accepted = finished.accepted
      rejected = finished.rejected
      cancelled = finished.cancelled
      perSecond = Double(finished.jobs) / seconds
      attempts = finished.attempts
      lost = finished.lost
      p50Seconds = finished.p50
      p95Seconds = finished.p95
      p99Seconds = finished.p99
    }
  }

  struct Worker: Encodable {
    let number: Int64
    let host: String
    let process: Int
    let startedAt: Date
    let isAlive: Bool
    /// The age of the last heartbeat.
    let beatAgeSeconds: Double
    let jobs: Int
    /// What it has done within the last hour, by the kind of jobs.
    let lastHour: [Recent]
  }

  struct Recent: Encodable {
    let kind: String
    let completed: Int
    let failed: Int
    let p50Seconds: Double
    let p95Seconds: Double

    init(_ kind: String, _ figures: RecentAttempts.Figures) {
      self.kind = kind
      (completed, failed) = (figures.completed, figures.failed)
      (p50Seconds, p95Seconds) = (figures.p50, figures.p95)
    }
  }

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

  let depths: [Depth]
  let lastHour: [Finished]
  let lastDay: [Finished]
  let workers: [Worker]
  let horizon: [Holder]
  let tables: [Table]

  init(
    depths: [QueueDepth], hour: [FinishedJobs], day: [FinishedJobs], workers: [WorkerRecord], health: QueueHealth
  ) {
    self.depths = depths.map {
      Depth(
        queue: $0.queue, kind: $0.kind, state: $0.state, jobs: $0.jobs, oldestSeconds: $0.oldestSeconds,
        attempts: $0.attempts, lost: $0.lost)
    }.sorted { ($0.queue, $0.kind, $0.state.rawValue) < ($1.queue, $1.kind, $1.state.rawValue) }
    lastHour = hour.map { Finished($0, seconds: 3600) }
    lastDay = day.map { Finished($0, seconds: 86_400) }
    self.workers = workers.map {
      Worker(
        number: $0.id, host: $0.host, process: $0.process, startedAt: $0.startedAt, isAlive: $0.isAlive,
        beatAgeSeconds: $0.heartbeatAgeSeconds, jobs: $0.jobs,
        lastHour: $0.recent.kinds.sorted { $0.key < $1.key }.map { Recent($0.key, $0.value) })
    }
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

  private static func lines(_ kinds: [Finished], _ title: String) -> [String] {
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
    var table = TextTable("WORKER", "HOST", "PROCESS", "ALIVE", "LAST HEARTBEAT", "JOBS", "STARTED")
    for worker in workers {
      table.add(
        "\(worker.number)", worker.host, "\(worker.process)", worker.isAlive ? "yes" : "no",
        DurationText.text(worker.beatAgeSeconds), "\(worker.jobs)", JSON.text(of: worker.startedAt))
    }
    return table.isEmpty ? ["no workers"] : table.lines
  }

  /// What each worker has done, for the question which one is slow.
  private var recentLines: [String] {
    var table = TextTable("LAST HOUR OF WORKER", "HOST", "PROCESS", "KIND", "COMPLETED", "FAILED", "P50", "P95")
    for worker in workers {
      for recent in worker.lastHour {
        table.add(
          "\(worker.number)", worker.host, "\(worker.process)", recent.kind, "\(recent.completed)", "\(recent.failed)",
          DurationText.text(recent.p50Seconds), DurationText.text(recent.p95Seconds))
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
