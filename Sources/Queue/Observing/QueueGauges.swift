package import Metrics
import Model
package import Postgres

/// How the queue stands, for Prometheus; each process of one database tells the same.
package enum QueueGauges {
  /// Measures now.
  package static func measure(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    try depths(JobQueue.depths(session)) + workers(session) + health(JobQueue.health(session))
  }

  private static func depths(_ depths: [QueueDepth]) -> [MetricGauge] {
    depths.flatMap { depth in
      let labels: MetricLabels = ["queue": depth.queue, "kind": depth.kind, "state": depth.state.rawValue]
      return [
        MetricGauge("take5_queue_jobs", "Jobs that are not over, and dead ones.", labels, Double(depth.jobs)),
        MetricGauge(
          "take5_queue_oldest_age_seconds",
          "How long the job that waits longest has waited since it could run, or has been dead.", labels,
          depth.oldestSeconds),
        MetricGauge(
          "take5_queue_attempts", "Attempts that these jobs have begun, in sum.", labels, Double(depth.attempts)),
        MetricGauge(
          "take5_queue_lost_leases", "How often these jobs have lost their workers, in sum.", labels,
          Double(depth.lost)),
      ]
    }
  }

  private static func workers(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    let counts = try session.execute(JobQueue.operating["worker_counts"]).single()
    let help = "Workers by whether their last sign of life is within their lease."
    return [
      MetricGauge("take5_workers", help, ["state": "alive"], Double(try counts.get("alive", as: Int.self))),
      MetricGauge("take5_workers", help, ["state": "silent"], Double(try counts.get("silent", as: Int.self))),
    ]
  }

  static func health(_ health: QueueHealth) -> [MetricGauge] {
    var gauges: [MetricGauge] = []
    for kind in HorizonHolder.Kind.allCases {
      let holders = health.holders.filter { $0.kind == kind }
      gauges.append(
        MetricGauge(
          "take5_xmin_age_transactions",
          "For how many transactions dead rows have been kept, by what keeps them.", ["holder": kind.rawValue],
          Double(holders.map(\.transactions).max() ?? 0)))
      guard kind == .session || kind == .prepared else { continue }
      gauges.append(
        MetricGauge(
          "take5_xmin_age_seconds", "How old the oldest open transaction is that keeps dead rows.",
          ["holder": kind.rawValue], holders.compactMap(\.seconds).max() ?? 0))
    }
    for table in health.tables {
      gauges.append(
        MetricGauge(
          "take5_table_dead_rows", "Rows that are gone but not removed yet, by the server's estimate.",
          ["table": table.table], Double(table.dead)))
      gauges.append(
        MetricGauge(
          "take5_table_live_rows", "Rows of the queue's tables, by the server's estimate.", ["table": table.table],
          Double(table.live)))
    }
    return gauges
  }
}
