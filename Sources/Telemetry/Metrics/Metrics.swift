internal import Platform

/// The metrics of a process, in Prometheus' text format (version 0.0.4).
///
/// An update takes a lock and a lookup and creates its family if needed. Label values are never names that a client can
/// choose, so the number of time series is bounded.
package final class Metrics: Sendable {
  private let families = Locked<[String: MetricFamily]>([:])
  private let measurements = Locked<[@Sendable () -> [MetricGauge]]>([])

  package init() {}

  /// Registers gauges that are measured for each call of `text`.
  package func measure(_ gauges: @escaping @Sendable () -> [MetricGauge]) {
    measurements.withLock { $0.append(gauges) }
  }

  /// Adds to a counter.
  package func count(_ name: String, _ help: String, _ labels: MetricLabels = [:], by amount: Double = 1) {
    families.withLock { families in
      families[name, default: MetricFamily(.counter, help)].add(amount, labels)
    }
  }

  /// Sets a gauge.
  package func set(_ name: String, _ help: String, _ labels: MetricLabels = [:], _ value: Double) {
    families.withLock { families in
      families[name, default: MetricFamily(.gauge, help)].set(value, labels)
    }
  }

  /// Adds an observation to a histogram.
  ///
  /// - Parameter buckets: the same for each observation of a name.
  package func observe(
    _ name: String, _ help: String, _ labels: MetricLabels = [:], _ buckets: HistogramBuckets = .wide, seconds: Double
  ) {
    families.withLock { families in
      families[name, default: MetricFamily(.histogram, help, buckets)].observe(seconds, labels)
    }
  }

  /// The text of all metrics; registered gauges are measured now.
  ///
  /// - Parameter gauges: further gauges to report.
  package func text(with gauges: [MetricGauge] = []) -> String {
    var all = families.withLock { $0 }
    for gauge in gauges + measurements.withLock({ $0 }).flatMap({ $0() }) {
      all[gauge.name, default: MetricFamily(.gauge, gauge.help)].set(gauge.value, gauge.labels)
    }
    return all.sorted { $0.key < $1.key }.map { $0.value.text(named: $0.key) }.joined()
  }
}

/// A measured value of a gauge.
package struct MetricGauge: Sendable {
  package let name: String
  package let help: String
  package let labels: MetricLabels
  package let value: Double

  package init(_ name: String, _ help: String, _ labels: MetricLabels = [:], _ value: Double) {
    self.name = name
    self.help = help
    self.labels = labels
    self.value = value
  }
}
