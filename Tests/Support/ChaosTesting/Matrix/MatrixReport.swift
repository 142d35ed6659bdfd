/// What came of many cells of the matrix.
package struct MatrixReport: Sendable {
  package let outcomes: [MatrixRun.Outcome]
  package let duration: Duration

  package init(outcomes: [MatrixRun.Outcome], duration: Duration) {
    self.outcomes = outcomes
    self.duration = duration
  }

  /// The cells in which something did not hold.
  package var failures: [MatrixRun.Outcome] { outcomes.filter { !$0.violations.isEmpty } }

  /// What it came to, a name and a value each.
  package var figures: [(name: String, value: String)] {
    let points = Set(outcomes.map { "\($0.cell.role.rawValue) \($0.cell.point)" })
    return [
      ("points", "\(points.count), on the ways of a worker and of a producer"),
      ("cells", "\(outcomes.count): each point with each of \(Set(outcomes.map(\.cell.fault)).count) faults"),
      ("duration", "\(Int(duration / .seconds(1))) s"), ("cells in which something did not hold", "\(failures.count)"),
    ]
  }
}
