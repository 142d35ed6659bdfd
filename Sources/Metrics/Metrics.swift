internal import Platform

/// What a process counts of itself, told in Prometheus' text format (version 0.0.4).
///
/// Counting takes a lock and a lookup. A family is made when it is first counted; its labels hold no names that anybody
/// can choose, so that there are never many.
package final class Metrics: Sendable {
  private let families = Locked<[String: MetricFamily]>([:])
  private let measured = Locked<[@Sendable () -> [MetricGauge]]>([])

  package init() {}

  /// Tells these too, measured whenever the text is asked for.
  package func measure(_ gauges: @escaping @Sendable () -> [MetricGauge]) { measured.withLock { $0.append(gauges) } }

  /// Adds to a counter.
  package func count(_ name: String, _ help: String, _ labels: MetricLabels = [:], by amount: Double = 1) {
    families.withLock { families in
      families[name, default: MetricFamily(.counter, help)].add(amount, labels)
    }
  }

  /// Says where a gauge stands.
  package func set(_ name: String, _ help: String, _ labels: MetricLabels = [:], _ value: Double) {
    families.withLock { families in
      families[name, default: MetricFamily(.gauge, help)].set(value, labels)
    }
  }

  /// Adds an observation to a histogram.
  package func observe(_ name: String, _ help: String, _ labels: MetricLabels = [:], seconds: Double) {
    families.withLock { families in
      families[name, default: MetricFamily(.histogram, help)].observe(seconds, labels)
    }
  }

  /// The text of everything that was counted, and of what is measured at this moment.
  ///
  /// - Parameter gauges: by their names, with what they say.
  package func text(with gauges: [MetricGauge] = []) -> String {
    var all = families.withLock { $0 }
    for gauge in gauges + measured.withLock({ $0 }).flatMap({ $0() }) {
      all[gauge.name, default: MetricFamily(.gauge, gauge.help)].set(gauge.value, gauge.labels)
    }
    return all.sorted { $0.key < $1.key }.map { $0.value.text(named: $0.key) }.joined()
  }
}
