import Glibc
import Platform

/// Runs cells in several concurrent lanes, each of which has its own server.
package struct MatrixLanes: Sendable {
  let lanes: Int
  let folder: String
  /// Receives the outcome of each cell.
  let report: @Sendable (MatrixRun.Outcome) -> Void

  package init(
    lanes: Int, folder: String, report: @escaping @Sendable (MatrixRun.Outcome) -> Void = { _ in }
  ) {
    self.lanes = lanes
    self.folder = folder
    self.report = report
  }

  /// Runs the cells and returns their outcomes.
  package func run(_ cells: [MatrixCell]) async throws -> [MatrixRun.Outcome] {
    let next = Next(cells)
    return try await withThrowingTaskGroup(of: [MatrixRun.Outcome].self) { group in
      for lane in 0..<min(lanes, cells.count) { group.addTask { try await work(lane, next) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  private final class Next: Sendable {
    private let cells: Locked<ArraySlice<MatrixCell>>

    init(_ cells: [MatrixCell]) { self.cells = Locked(cells[...]) }

    func take() -> MatrixCell? { cells.withLock { $0.popFirst() } }
  }

  private func work(_ lane: Int, _ next: Next) async throws -> [MatrixRun.Outcome] {
    let server = try await ChaosServer(folder: "\(folder)/server-\(lane)")
    var outcomes: [MatrixRun.Outcome] = []
    while let cell = next.take() {
      let cellFolder = "\(folder)/\(cell.description.replacing(" ", with: "-"))"
      try Folder.make(cellFolder)
      let run = try await ChaosRun(on: server, folder: cellFolder, timing: ChaosTiming(lease: .seconds(1)))
      let outcome = try await MatrixRun(cell, in: run).outcome()
      try await run.end()
      report(outcome)
      outcomes.append(outcome)
      // The ledgers and logs of a cell with violations are kept for diagnosis.
      if outcome.violations.isEmpty { try? Folder.remove(cellFolder) }
    }
    try await server.stop()
    return outcomes
  }
}

/// The result of several cells.
package struct MatrixReport: Sendable {
  private let outcomes: [MatrixRun.Outcome]
  private let duration: Duration

  package init(outcomes: [MatrixRun.Outcome], duration: Duration) {
    self.outcomes = outcomes
    self.duration = duration
  }

  /// The outcomes with violations.
  package var failures: [MatrixRun.Outcome] { outcomes.filter { !$0.violations.isEmpty } }

  /// The names and values of the figures.
  package var figures: [(name: String, value: String)] {
    let points = Set(outcomes.map { "\($0.cell.role.rawValue) \($0.cell.point)" })
    return [
      ("points", "\(points.count), of a worker and of a producer"),
      ("cells", "\(outcomes.count): each point with each of \(Set(outcomes.map(\.cell.fault)).count) faults"),
      ("duration", "\(Int(duration / .seconds(1))) s"), ("cells with violations", "\(failures.count)"),
    ]
  }
}
