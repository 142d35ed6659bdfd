/// The name, meaning and goal of a measured number.
struct Figure: Sendable, Hashable {
  let name: String
  /// A short description.
  let meaning: String
  /// Nil if the number has no goal.
  let goal: Goal?
  /// The number of decimals in reports.
  let decimals: Int

  init(_ name: String, _ meaning: String, _ goal: Goal? = nil, decimals: Int = 3) {
    self.name = name
    self.meaning = meaning
    self.goal = goal
    self.decimals = decimals
  }
}

/// The limit that a figure has to meet.
enum Goal: Sendable, Hashable, CustomStringConvertible {
  case atMost(Double)
  case atLeast(Double)

  /// Whether a value meets the goal.
  func isMet(by value: Double) -> Bool {
    switch self {
    case .atMost(let limit): value <= limit
    case .atLeast(let limit): value >= limit
    }
  }

  var description: String {
    switch self {
    case .atMost(let limit): "at most \(limit.text(decimals: 2))"
    case .atLeast(let limit): "at least \(limit.text(decimals: 2))"
    }
  }
}

/// The result of a measurement.
struct Finding: Sendable {
  /// The values that the figure was computed from, in a unit of their own.
  struct Detail: Sendable {
    let name: String
    let statistics: Statistics
    let decimals: Int

    /// - Parameter values: one for each pair, or a single one; at least one.
    init(_ name: String, _ values: [Double], decimals: Int = 3) {
      self.name = name
      statistics = Statistics(values)
      self.decimals = decimals
    }
  }

  let figure: Figure
  let statistics: Statistics
  let details: [Detail]

  /// - Parameter values: one for each pair, or a single one; at least one.
  init(_ figure: Figure, _ values: [Double], details: [Detail]) {
    self.figure = figure
    statistics = Statistics(values)
    self.details = details
  }

  /// The median of all values.
  var value: Double { statistics.median }

  /// Whether the goal is met; nil without a goal.
  var isMet: Bool? { figure.goal.map { $0.isMet(by: value) } }
}

/// The order statistics of the values of several runs.
struct Statistics: Sendable {
  private let sorted: [Double]

  /// - Parameter values: at least one.
  init(_ values: [Double]) { sorted = values.sorted() }

  var count: Int { sorted.count }
  var min: Double { sorted[0] }
  var max: Double { sorted[sorted.count - 1] }

  /// Returns a percentile by the nearest-rank method: the smallest value that at least `percent` % of the values do not
  /// exceed.
  func percentile(_ percent: Int) -> Double { sorted[Swift.max(0, (sorted.count * percent + 99) / 100 - 1)] }

  /// The middle value, or the mean of the two in the middle.
  var median: Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}

extension Double {
  /// Returns the number with a fixed number of decimals, without Foundation.
  func text(decimals: Int) -> String {
    let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((self * Double(scale)).rounded())
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return "\(scaled)" }
    let fraction = String(scaled.magnitude % UInt(scale))
    let zeros = String(repeating: "0", count: decimals - fraction.count)
    return "\(sign)\(scaled.magnitude / UInt(scale)).\(zeros)\(fraction)"
  }
}
