import Postgres
import PostgresTesting

@testable import ChaosTesting

/// A server and a run of its own for one test.
struct ChaosFixture {
  let folder: TemporaryFolder
  let server: ChaosServer
  let run: ChaosRun

  /// Runs a test, and checks afterwards whatever it broke.
  static func with<Result>(
    times: ChaosTimes = ChaosTimes(lease: .seconds(1)), in place: String? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (ChaosFixture) async throws -> Result
  ) async throws -> Result {
    let folder = try TemporaryFolder(prefix: "take5-chaos")
    let server = try await ChaosServer(folder: (place ?? folder.path) + "/server")
    let fixture = ChaosFixture(
      folder: folder, server: server, run: try await ChaosRun(on: server, folder: folder.path, times: times))
    do {
      let result = try await body(fixture)
      await fixture.run.pool.close()
      try await server.stop()
      return result
    } catch {
      await fixture.run.pool.close()
      try? await server.stop()
      throw error
    }
  }
}
