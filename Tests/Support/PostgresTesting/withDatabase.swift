package import Postgres

/// Runs a test with a database of its own on the run's private server, and removes it afterwards.
package func withDatabase<Result>(
  _ template: TestTemplate? = nil, isolation: isolated (any Actor)? = #isolation,
  _ body: (DatabaseURL) async throws -> Result
) async throws -> Result {
  let url = try await TestCluster.shared.makeDatabase(template)
  do {
    let result = try await body(url)
    try await TestCluster.shared.drop(url)
    return result
  } catch {
    try? await TestCluster.shared.drop(url)
    throw error
  }
}
