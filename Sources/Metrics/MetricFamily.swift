/// All time series of one name.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable {
    case counter
    case gauge
    case histogram
  }

  /// Upper bounds in seconds: from a short job or a request to a long job, and to what has waited for its turn.
  private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]

  private struct Histogram: Sendable {
    var buckets = [Int](repeating: 0, count: MetricFamily.bounds.count)
    var count = 0
    var sum = 0.0
  }

  private let kind: Kind
  private let help: String
  private var values: [MetricLabels: Double] = [:]
  private var histograms: [MetricLabels: Histogram] = [:]

  init(_ kind: Kind, _ help: String) {
    self.kind = kind
    self.help = help
  }

  mutating func add(_ amount: Double, _ labels: MetricLabels) { values[labels, default: 0] += amount }

  mutating func set(_ value: Double, _ labels: MetricLabels) { values[labels] = value }

  mutating func observe(_ seconds: Double, _ labels: MetricLabels) {
    var histogram = histograms[labels] ?? Histogram()
    for (index, bound) in Self.bounds.enumerated() where seconds <= bound { histogram.buckets[index] += 1 }
    histogram.count += 1
    histogram.sum += seconds
    histograms[labels] = histogram
  }

  func text(named name: String) -> String {
    var lines = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
    lines += values.map { "\(name)\($0.key.text()) \(Self.text($0.value))" }.sorted()
    for (labels, histogram) in histograms.sorted(by: { $0.key.text() < $1.key.text() }) {
      for (bound, count) in zip(Self.bounds, histogram.buckets) {
        lines.append("\(name)_bucket\(labels.text(and: ("le", Self.text(bound)))) \(count)")
      }
      lines.append("\(name)_bucket\(labels.text(and: ("le", "+Inf"))) \(histogram.count)")
      lines.append("\(name)_sum\(labels.text()) \(Self.text(histogram.sum))")
      lines.append("\(name)_count\(labels.text()) \(histogram.count)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func text(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? String(value)
  }
}
