import Platform

extension Matrix {
  /// Runs cells in several concurrent lanes, each of which has its own server.
  ///
  /// - Parameter report: receives the violations of each cell.
  package static func run(
    _ cells: [MatrixCell], lanes: Int, folder: String,
    report: @escaping @Sendable (MatrixCell, [String]) -> Void = { _, _ in }
  ) async throws -> StormReport {
    let startTime = ContinuousClock.now
    let waiting = Channel<MatrixCell>(capacity: max(1, cells.count))
    for cell in cells { _ = waiting.put(cell) }
    let failures = try await withThrowingTaskGroup(of: [String].self) { group in
      for lane in 0..<min(lanes, cells.count) {
        group.addTask {
          let server = try await ChaosServer(folder: "\(folder)/server-\(lane)")
          var failures: [String] = []
          // Ends: with the cells.
          while let cell = waiting.takeIfReady() {
            let violations = try await violations(cell, on: server, folder: folder)
            report(cell, violations)
            if !violations.isEmpty { failures.append("\(cell): \(violations[0])") }
          }
          try await server.stop()
          return failures
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let points = Set(cells.map { "\($0.role.rawValue) \($0.point)" })
    return StormReport(
      [
        ("points", "\(points.count), of a worker and of a producer"),
        ("cells", "\(cells.count): each point with each of \(Set(cells.map(\.fault)).count) faults"),
      ], since: startTime, "cells with violations", none: "0", failures)
  }

  private static func violations(
    _ cell: MatrixCell, on server: ChaosServer, folder: String
  ) async throws -> [String] {
    let cellFolder = "\(folder)/\(cell.description.replacing(" ", with: "-"))"
    try Folder.make(cellFolder)
    let run = try await ChaosRun(on: server, folder: cellFolder, timing: ChaosTiming(lease: .seconds(1)))
    let violations = try await MatrixRun(cell, in: run).violations()
    try await run.end()
    // The ledgers and logs of a cell with violations are kept for diagnosis.
    if violations.isEmpty { try? Folder.remove(cellFolder) }
    return violations
  }
}
