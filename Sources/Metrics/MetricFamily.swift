/// The time series of one metric name.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable {
    case counter
    case gauge
    case histogram
  }

  /// The upper bounds of histogram buckets in seconds: from short requests to long jobs and waiting times.
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

/// The labels of a time series, sorted by name.
package struct MetricLabels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private let pairs: [Pair]

  private struct Pair: Sendable, Hashable {
    let name: String
    let value: String
  }

  package init(dictionaryLiteral elements: (String, String)...) {
    pairs = elements.map { Pair(name: $0.0, value: $0.1) }.sorted { $0.name < $1.name }
  }

  /// The labels in braces, with one more at the end; empty without any.
  func text(and last: (name: String, value: String)? = nil) -> String {
    let all = pairs.map { ($0.name, $0.value) } + (last.map { [($0.name, $0.value)] } ?? [])
    return all.isEmpty ? "" : "{" + all.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
