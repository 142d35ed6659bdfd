/// What a measurement found.
struct Finding: Sendable {
  /// What the figure was computed from, in a unit of its own.
  struct Detail: Sendable {
    let name: String
    let statistics: Statistics
    let decimals: Int

    /// - Parameter values: one for each pair, or one alone; at least one.
    init(_ name: String, _ values: [Double], decimals: Int = 3) {
      self.name = name
      statistics = Statistics(values)
      self.decimals = decimals
    }
  }

  let figure: Figure
  let statistics: Statistics
  let details: [Detail]

  /// - Parameter values: one for each pair, or one alone; at least one.
  init(_ figure: Figure, _ values: [Double], details: [Detail]) {
    self.figure = figure
    statistics = Statistics(values)
    self.details = details
  }

  /// The one number that stands for all.
  var value: Double { statistics.median }

  /// Nil where there is no goal.
  var isMet: Bool? { figure.goal.map { $0.isMet(by: value) } }
}
