internal import Kit
internal import Model
package import Postgres
internal import Queue
package import Telemetry

extension Webhooks: GaugedRoom {
  /// The number of endpoints whose messages have a gauge: those that wait the longest.
  static let gaugedEndpoints = 20

  /// The gauges of endpoints; all processes of one database report the same values.
  package static func gauges(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    var gauges: [MetricGauge] = []
    for row in try session.execute(statements["waiting_webhooks"], .integer(gaugedEndpoints)) {
      gauges.append(
        MetricGauge(
          "take5_webhook_oldest_age_seconds",
          "Time since the oldest message to an endpoint was due, of the \(gaugedEndpoints) that wait the longest.",
          ["webhook": try row.publicID("public_id").description], try row.get("seconds")))
    }
    let failing: Int64 = try session.execute(statements["failing_webhooks"]).single().get("number")
    gauges.append(
      MetricGauge(
        "take5_webhooks_failing", "Endpoints that are enabled, and whose last messages failed.", [:], Double(failing)))
    return gauges
  }
}
