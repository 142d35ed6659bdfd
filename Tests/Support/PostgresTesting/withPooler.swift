import Platform
package import Postgres

/// Runs a test with a pgbouncer before its database, which lends its connections for one transaction at a time.
///
/// - Parameters:
///   - database: the way past it.
///   - connections: how many it has to the server: with fewer than a test has clients they share.
///   - settings: how it pools instead, line by line as its configuration file has it.
///   - body: gets the way through it, which says that it is one.
package func withPooler<Result>(
  before database: DatabaseURL, connections: Int = 2, settings: [String]? = nil,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (DatabaseURL) async throws -> Result
) async throws -> Result {
  let pooler = try await onThread("pgbouncer-start") {
    try PgBouncer(before: database, settings: settings ?? PgBouncer.sharing(connections))
  }
  do {
    let result = try await body(pooler.url)
    try await onThread("pgbouncer-stop") { pooler.stop() }
    return result
  } catch {
    try? await onThread("pgbouncer-stop") { pooler.stop() }
    throw error
  }
}
