import Postgres
import PostgresTesting
import Testing

@testable import ChaosTesting

/// A server and a run for one test.
struct ChaosFixture {
  let folder: TemporaryFolder
  let server: ChaosServer
  let run: ChaosRun

  /// Runs a test with a new server.
  ///
  /// - Parameter serverFolder: the folder of the server; nil: the temporary folder of the test.
  static func with<Result>(
    in serverFolder: String? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (ChaosFixture) async throws -> Result
  ) async throws -> Result {
    let folder = try TemporaryFolder(prefix: "take5-chaos")
    let server = try await ChaosServer(folder: (serverFolder ?? folder.path) + "/server")
    let timing = ChaosTiming(lease: .seconds(1))
    let fixture = ChaosFixture(
      folder: folder, server: server, run: try await ChaosRun(on: server, folder: folder.path, timing: timing))
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

extension Tag {
  /// Starts processes and a PostgreSQL server, and injects faults into them.
  @Tag static var chaos: Self
}
