internal import Kit
package import Postgres
internal import Push
package import Telemetry

extension Devices: GaugedRoom {
  /// The gauges of notifications; all processes of one database report the same values.
  package static func gauges(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    let rows = try session.execute(statements["oldest_due"], .integer(PushShards.count))
    var oldest = Dictionary(uniqueKeysWithValues: RegisteredDevice.Platform.allCases.map { ($0, 0.0) })
    for row in rows {
      let name: String? = try row.get("provider")
      guard let platform = RegisteredDevice.Platform.allCases.first(where: { $0.name == name }) else { continue }
      oldest[platform] = max(oldest[platform] ?? 0, try row.get("seconds"))
    }
    return oldest.map { platform, seconds in
      MetricGauge(
        "take5_push_oldest_due_seconds", "Time for which the oldest notification that is due has waited.",
        ["provider": platform.name], seconds)
    }
  }
}
