package import Postgres
package import Store
package import Telemetry

/// A room with gauges for Prometheus.
package protocol GaugedRoom: Room {
  /// Measures what all processes of one database report alike.
  static func gauges(_ session: Session) throws(PostgresError) -> [MetricGauge]
}
