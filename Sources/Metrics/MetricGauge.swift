/// Something that is measured when it is asked for.
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
