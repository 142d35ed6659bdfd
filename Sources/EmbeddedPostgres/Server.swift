import Glibc
import Platform
import Postgres

/// A running server of a cluster: created if it is missing, started, restarted, and stopped with this process.
final class Server: Sendable {
  let url: DatabaseURL
  private let supervisor: Supervisor
  private let layout: Layout

  /// Starts the server; `waitUntilReady` waits until it accepts connections.
  init(
    of cluster: Cluster, with binaries: Binaries, report: @escaping @Sendable (String) -> Void
  ) throws(EmbeddedPostgresError) {
    layout = cluster.layout
    url = DatabaseURL(socketFolder: layout.socketFolder, user: Cluster.role, database: Cluster.database)
    do {
      if layout.home.hasPrefix(Layout.systemFolder + "/") { try Folder.make(Layout.systemFolder) }
      try cluster.user.makePrivateFolder(layout.home)
      try cluster.user.makePrivateFolder(layout.socketFolder)
      supervisor = try Supervisor(cluster: cluster, binaries: binaries, report: report)
      try supervisor.start()
    } catch {
      throw EmbeddedPostgresError(error)
    }
  }

  /// The process id of the server while it runs.
  var process: Int32? { supervisor.process }

  /// Waits until the server accepts connections, and creates the database.
  ///
  /// - Parameter end: nil: waits until the server is ready or stopped.
  func waitUntilReady(until end: ContinuousClock.Instant?) throws(EmbeddedPostgresError) {
    while true {
      if let failure = supervisor.failure { throw failure }
      if supervisor.isStopping { throw EmbeddedPostgresError("PostgreSQL was stopped before it was ready") }
      do throws(PostgresError) {
        try createDatabase()
        return supervisor.markReady()
      } catch {
        guard error.isUnavailable || error.isConnectionLost else { throw EmbeddedPostgresError(causedBy: error) }
        if let end, ContinuousClock.now >= end {
          throw EmbeddedPostgresError(
            "PostgreSQL did not become ready in time: \(error.message)",
            remedy: "See \(layout.logFile); after a crash the server may still be in recovery")
        }
        usleep(10_000)
      }
    }
  }

  private func createDatabase() throws(PostgresError) {
    let session = try Session.connect(url.with(database: "postgres"), timeout: .zero)
    let found = try session.execute("SELECT FROM pg_database WHERE datname = $1", .text(Cluster.database))
    if found.isEmpty { try session.executeScript("CREATE DATABASE \(Cluster.database)", name: "CREATE DATABASE") }
  }

  /// Stops the server and waits for its end; may be called by several threads and repeatedly.
  func stop() { supervisor.stop() }
}
