internal import Kit
package import Postgres
package import Telemetry

extension Devices: GaugedRoom {
  /// The gauges of notifications; all processes of one database report the same values.
  package static func gauges(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    let rows = try session.execute(statements["oldest_due"], .integer(PushShards.count))
    var oldest = Dictionary(uniqueKeysWithValues: RegisteredDevice.Platform.allCases.map { ($0, 0.0) })
    for row in rows {
      guard let platform = try row.get("provider", as: String?.self).flatMap(RegisteredDevice.Platform.init) else {
        continue
      }
      oldest[platform] = max(oldest[platform] ?? 0, try row.get("seconds"))
    }
    return oldest.map { platform, seconds in
      MetricGauge(
        "take5_push_oldest_due_seconds", "Time for which the oldest notification that is due has waited.",
        ["provider": platform.rawValue], seconds)
    }
  }
}
