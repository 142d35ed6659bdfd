import PostgresTesting
import Testing

@testable import ChaosTesting

@Suite("A slice of the matrix", .tags(.chaos), .timeLimit(.minutes(10)))
struct MatrixSliceTests {
  @Test("whatever dies at some of its points, nothing is lost and nothing is done twice")
  func slice() async throws {
    let folder = try TemporaryFolder(prefix: "take5-matrix")
    let cells = Matrix.slice(24, seed: 1)
    for outcome in try await MatrixLanes(lanes: 4, folder: folder.path).run(cells) {
      #expect(outcome.violations == [], "\(outcome.cell)")
    }
  }
}
