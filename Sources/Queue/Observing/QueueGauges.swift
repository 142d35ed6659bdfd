import Model
package import Postgres
package import Telemetry

/// The gauges of the queue for Prometheus; all processes of one database report the same values.
package enum QueueGauges {
  /// - Parameter tables: all that have rows which may be set aside.
  package static func measure(
    settingAside tables: [SetAside.Table], _ session: Session
  ) throws(PostgresError) -> [MetricGauge] {
    let workers = try JobQueue.workers(session)
    return try depths(JobQueue.depths(session)) + counts(workers) + workers.flatMap(recent)
      + health(JobQueue.health(session)) + SetAside.gauges(tables, session) + [
        MetricGauge(
          "take5_database_checksum_failures", "Pages of the database that the server has read with a wrong checksum.",
          [:],
          Double(session.checksumFailures()))
      ]
  }

  private static func depths(_ depths: [QueueDepth]) -> [MetricGauge] {
    depths.flatMap { depth in
      let labels: MetricLabels = ["queue": depth.queue, "kind": depth.kind, "state": depth.state.rawValue]
      return [
        MetricGauge("take5_queue_jobs", "Live and dead jobs.", labels, Double(depth.jobs)),
        MetricGauge(
          "take5_queue_oldest_age_seconds",
          "Time since the oldest job became available, or since it died.", labels,
          depth.oldestSeconds),
        MetricGauge(
          "take5_queue_attempts", "Attempts of live and dead jobs.", labels, Double(depth.attempts)),
        MetricGauge(
          "take5_queue_lost_leases", "Losses of workers of live and dead jobs.", labels,
          Double(depth.lost)),
      ]
    }
  }

  private static func counts(_ workers: [WorkerRecord]) -> [MetricGauge] {
    let help = "Workers, by whether their last heartbeat is within their lease."
    let alive = workers.count { $0.isAlive }
    return [
      MetricGauge("take5_workers", help, ["state": "alive"], Double(alive)),
      MetricGauge("take5_workers", help, ["state": "silent"], Double(workers.count - alive)),
    ]
  }

  /// What a worker has done, for the question which one is slow.
  private static func recent(_ worker: WorkerRecord) -> [MetricGauge] {
    worker.recent.kinds.sorted { $0.key < $1.key }.flatMap { kind, figures in
      func labels(_ name: String, _ value: String) -> MetricLabels {
        [
          "worker": "\(worker.id)", "host": worker.host, "process": "\(worker.process)", "kind": kind, name: value,
        ]
      }
      let attempts = "Attempts that a worker has ended within the last hour, by result."
      let duration = "Time of the attempts that a worker has ended within the last hour."
      return [
        MetricGauge(
          "take5_worker_attempts", attempts, labels("result", "completed"), Double(figures.completed)),
        MetricGauge(
          "take5_worker_attempts", attempts, labels("result", "failed"), Double(figures.failed)),
        MetricGauge("take5_worker_attempts", attempts, labels("result", "lost"), Double(figures.lost)),
        MetricGauge(
          "take5_worker_attempt_seconds", duration, labels("percentile", "50"), figures.p50),
        MetricGauge(
          "take5_worker_attempt_seconds", duration, labels("percentile", "95"), figures.p95),
      ]
    }
  }

  static func health(_ health: QueueHealth) -> [MetricGauge] {
    var gauges: [MetricGauge] = []
    for kind in HorizonHolder.Kind.allCases {
      let holders = health.holders.filter { $0.kind == kind }
      gauges.append(
        MetricGauge(
          "take5_xmin_age_transactions",
          "Age of the oldest xmin that holds back the removal of dead rows, in transactions.",
          ["holder": kind.rawValue],
          Double(holders.map(\.transactions).max() ?? 0)))
      guard kind == .session || kind == .prepared else { continue }
      gauges.append(
        MetricGauge(
          "take5_xmin_age_seconds", "Age of the oldest open transaction.",
          ["holder": kind.rawValue], holders.compactMap(\.seconds).max() ?? 0))
    }
    for table in health.tables {
      gauges.append(
        MetricGauge(
          "take5_table_dead_rows", "Dead rows of the queue's tables, by the server's estimate.",
          ["table": table.table], Double(table.dead)))
      gauges.append(
        MetricGauge(
          "take5_table_live_rows", "Live rows of the queue's tables, by the server's estimate.", ["table": table.table],
          Double(table.live)))
    }
    return gauges
  }
}
