/// The time series of one metric name.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable {
    case counter
    case gauge
    case histogram
  }

  private struct Histogram: Sendable {
    /// The number of observations between each bound and the one before.
    var counts: [Int]
    var count = 0
    var sum = 0.0
  }

  private let kind: Kind
  private let help: String
  private let buckets: HistogramBuckets
  private var values: [MetricLabels: Double] = [:]
  private var histograms: [MetricLabels: Histogram] = [:]

  init(_ kind: Kind, _ help: String, _ buckets: HistogramBuckets = .wide) {
    self.kind = kind
    self.help = help
    self.buckets = buckets
  }

  mutating func add(_ amount: Double, _ labels: MetricLabels) { values[labels, default: 0] += amount }

  mutating func set(_ value: Double, _ labels: MetricLabels) { values[labels] = value }

  mutating func observe(_ seconds: Double, _ labels: MetricLabels) {
    let index = buckets.bounds.firstIndex { seconds <= $0 }
    var histogram = histograms[labels] ?? Histogram(counts: [Int](repeating: 0, count: buckets.bounds.count))
    if let index { histogram.counts[index] += 1 }
    histogram.count += 1
    histogram.sum += seconds
    histograms[labels] = histogram
  }

  func text(named name: String) -> String {
    var lines = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
    lines += values.map { "\(name)\($0.key.text()) \(Self.text($0.value))" }.sorted()
    for (labels, histogram) in histograms.sorted(by: { $0.key.text() < $1.key.text() }) {
      var count = 0
      for (bound, more) in zip(buckets.bounds, histogram.counts) {
        count += more
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

/// The upper bounds of a histogram's buckets, in seconds.
package struct HistogramBuckets: Sendable {
  let bounds: [Double]

  /// From short requests to long jobs and waiting times.
  package static let wide = HistogramBuckets(
    bounds: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800])
  /// One request to a server near by, up to a timeout of half a minute.
  package static let request = HistogramBuckets(
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
  /// What a user waits for: seconds if all is well, hours after an outage.
  package static let wait = HistogramBuckets(
    bounds: [0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 120, 300, 900, 3600, 14400])
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
