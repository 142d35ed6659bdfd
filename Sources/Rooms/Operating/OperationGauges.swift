internal import Kit
package import Postgres
internal import Queue
internal import Store
package import Telemetry

/// The gauges of a database for Prometheus: of the queue, of events, of their deliveries, and of runs.
package enum OperationGauges {
  package static func measure(_ session: Session) throws(PostgresError) -> [MetricGauge] {
    let running = try Reprocessing.running(session)
    let rooms = [any Room.Type].all
    var gauges = try QueueGauges.measure(settingAside: rooms.settingAside, session)
    for case let room as any GaugedRoom.Type in rooms { gauges += try room.gauges(session) }
    return gauges + [
      MetricGauge(
        "take5_run_age_seconds", "Age of the oldest reprocessing run that is running.", [:], running.seconds),
      MetricGauge(
        "take5_run_items", "Items of running reprocessing runs that wait for their turn, up to 100,000.", [:],
        Double(running.items)),
    ]
  }
}
