package import Metrics
import Model
package import Postgres

/// The gauges of the queue for Prometheus; all processes of one database report the same values.
package enum QueueGauges {
  package static func measure(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    try depths(JobQueue.depths(session)) + workers(session) + health(JobQueue.health(session))
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

  private static func workers(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    let counts = try session.execute(JobQueue.observing["worker_counts"]).single()
    let help = "Workers, by whether their last heartbeat is within their lease."
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
