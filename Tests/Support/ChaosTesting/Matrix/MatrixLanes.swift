import Glibc
import Platform

/// Carries out many cells, several at a time: each lane has a server of its own, which it may crash.
package struct MatrixLanes: Sendable {
  let lanes: Int
  let folder: String
  let times: ChaosTimes
  /// Told of each cell when it is over.
  let report: @Sendable (MatrixRun.Outcome) -> Void

  package init(
    lanes: Int, folder: String, times: ChaosTimes = ChaosTimes(lease: .seconds(1)),
    report: @escaping @Sendable (MatrixRun.Outcome) -> Void = { _ in }
  ) {
    self.lanes = lanes
    self.folder = folder
    self.times = times
    self.report = report
  }

  /// Carries them all out; what came of each.
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
      let place = "\(folder)/\(cell.description.replacing(" ", with: "-"))"
      try Folder.make(place)
      let run = try await ChaosRun(on: server, folder: place, times: times)
      let outcome = try await MatrixRun(cell, in: run).outcome()
      try await run.end()
      report(outcome)
      outcomes.append(outcome)
      // What is well needs no looking into.
      if outcome.violations.isEmpty { try? Folder.remove(place) }
    }
    try await server.stop()
    return outcomes
  }
}
