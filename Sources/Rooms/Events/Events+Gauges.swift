internal import Kit
package import Postgres
package import Telemetry

extension Events: GaugedRoom {
  /// The gauges of what waits to be passed on; all processes of one database report the same values.
  package static func gauges(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    let row = try session.execute(statements["waiting"]).single()
    let age =
      "Time since the oldest event that waits for its position, or the oldest announcement for the users that it is for."
    return [
      MetricGauge("take5_events_oldest_age_seconds", age, ["waits_for": "position"], try row.get("unplaced")),
      MetricGauge("take5_events_oldest_age_seconds", age, ["waits_for": "audience"], try row.get("announced")),
      MetricGauge(
        "take5_announcements", "Announcements that wait for users that they are for.", [:],
        Double(try row.get("number", as: Int64.self))),
      MetricGauge(
        "take5_events_late", "Events that were announced too late to be sent, since the store was made.", [:],
        Double(try row.get("late", as: Int64.self))),
    ]
  }
}
