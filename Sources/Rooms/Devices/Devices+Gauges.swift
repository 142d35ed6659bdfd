internal import Postgres
internal import Telemetry

extension Devices {
  /// The gauges of notifications; all processes of one database report the same values.
  static func gauges(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    var oldest = Dictionary(uniqueKeysWithValues: RegisteredDevice.Platform.allCases.map { ($0, 0.0) })
    for row in try session.execute(statements["oldest_due"], .integer(PushShards.count)) {
      let platform = PushShards.platform(of: try row.get("shard"))
      oldest[platform] = max(oldest[platform] ?? 0, try row.get("seconds"))
    }
    return oldest.map { platform, seconds in
      MetricGauge(
        "take5_push_oldest_due_seconds", "Time for which the oldest notification that is due has waited.",
        ["provider": platform.rawValue], seconds)
    }
  }
}
