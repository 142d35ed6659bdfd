/// The result of a storm, or of cells of the matrix.
package struct StormReport: Sendable {
  /// The names and values of the figures.
  package let figures: [(name: String, value: String)]
  package let violations: [String]

  /// - Parameters:
  ///   - title: the name of the last figure, that of the violations.
  ///   - none: its value if there are none.
  init(
    _ figures: [(name: String, value: String)], since start: ContinuousClock.Instant, _ title: String,
    none: String = "none", _ violations: [String]
  ) {
    let seconds = Int(start.duration(to: .now) / .seconds(1))
    self.figures =
      figures + [
        ("duration", "\(seconds) s"), (title, violations.isEmpty ? none : "\(violations.count) violations"),
      ]
    self.violations = violations
  }
}
