import Glibc
import Platform
import Postgres

/// The server that this process owns: created if it is missing, started, restarted, and stopped with its owner.
final class OwnedServer: Sendable {
  let url: DatabaseURL
  private let supervisor: Supervisor
  private let lock: FileLock
  private let layout: Layout

  /// Starts the server; `waitUntilReady` waits until it accepts connections.
  ///
  /// - Parameter lock: the owner's lock, which is released once the server has ended.
  init(
    in folder: String, _ lock: FileLock, _ configuration: EmbeddedPostgres.Configuration
  ) throws(EmbeddedPostgresError) {
    do {
      let user = try ServerUser.current()
      layout = Layout(dataFolder: folder, id: try Layout.identify(folder), user: user)
      let cluster = Cluster(
        layout: layout, user: try Cluster.owner(of: layout, otherwise: user), isDurable: configuration.isDurable)
      if layout.home.hasPrefix(Layout.systemFolder + "/") { try Folder.make(Layout.systemFolder) }
      try cluster.user.makePrivateFolder(layout.home)
      try cluster.user.makePrivateFolder(layout.socketFolder)
      let binaries = try Binaries.find(version: cluster.version) { getenv($0).map { String(cString: $0) } }
      supervisor = try Supervisor(cluster: cluster, binaries: binaries, report: configuration.report)
      try supervisor.start()
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
    self.lock = lock
    url = DatabaseURL(socketFolder: layout.socketFolder, user: Cluster.role, database: Cluster.database)
  }

  /// The process id of the server while it runs.
  var process: Int32? { supervisor.process }

  /// Waits until the server accepts connections, creates the database, and writes the URL file for other processes.
  ///
  /// - Parameter end: nil: waits until the server is ready or stopped.
  func waitUntilReady(until end: ContinuousClock.Instant?) throws(EmbeddedPostgresError) {
    do {
      while true {
        if let failure = supervisor.failure { throw failure }
        if supervisor.isStopping { throw EmbeddedPostgresError("PostgreSQL was stopped before it was ready") }
        do {
          try createDatabase()
          supervisor.markReady()
          return try SmallFile.write(url.connectionString, to: layout.urlFile)
        } catch let error as PostgresError where error.isUnavailable || error.isConnectionLost {
          if let end, ContinuousClock.now >= end {
            throw EmbeddedPostgresError(
              "PostgreSQL did not become ready in time: \(error.message)",
              remedy: "See \(layout.logFile); after a crash the server may still be in recovery")
          }
          usleep(10_000)
        }
      }
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
  }

  private func createDatabase() throws(PostgresError) {
    let session = try Session.connect(url.with(database: "postgres"), timeout: .zero)
    let found = try session.execute("SELECT FROM pg_database WHERE datname = $1", .text(Cluster.database))
    if found.isEmpty { try session.executeScript("CREATE DATABASE \(Cluster.database)", name: "CREATE DATABASE") }
  }

  /// Stops the server and waits for its end; may be called by several threads and repeatedly.
  func stop() {
    supervisor.stop()
    lock.release {
      // Before the lock is released: later the file may be the next owner's.
      _ = unlink(layout.urlFile)
      if !layout.socketFolder.hasPrefix(layout.home) { _ = rmdir(layout.socketFolder) }
    }
  }
}
