import Glibc
import Platform
import Postgres

/// A server that this process owns: made where it is missing, started, kept running, and ended with its owner.
final class OwnedServer: Sendable {
  let url: DatabaseURL
  private let supervisor: Supervisor
  private let lock: FileLock
  private let layout: Layout

  /// Begins to start it; `waitUntilReady` tells when it answers.
  ///
  /// - Parameter lock: the owner's, which is released when the server has ended.
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

  /// The server's process id while it runs.
  var process: Int32? { supervisor.process }

  /// Waits until it answers, and lets others find it; by nothing else a server says that it is ready.
  ///
  /// - Parameter limit: nil waits as long as it takes, or until it is stopped.
  func waitUntilReady(until limit: ContinuousClock.Instant?) throws(EmbeddedPostgresError) {
    do {
      while true {
        if let failure = supervisor.failure { throw failure }
        if supervisor.isStopping { throw EmbeddedPostgresError("PostgreSQL was stopped before it was ready") }
        do {
          try makeDatabase()
          supervisor.markReady()
          return try SmallFile.write(url.connectionString, to: layout.urlFile)
        } catch let error as PostgresError where error.isUnavailable || error.isConnectionLost {
          if let limit, ContinuousClock.now >= limit {
            throw EmbeddedPostgresError(
              "PostgreSQL did not become ready in time: \(error.message)",
              remedy: "See \(layout.logFile); after a crash it may still be at work on what it has to recover")
          }
          usleep(10_000)
        }
      }
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
  }

  private func makeDatabase() throws(PostgresError) {
    let session = try Session.connect(url.with(database: "postgres"), timeout: .zero)
    let found = try session.execute("SELECT FROM pg_database WHERE datname = $1", .text(Cluster.database))
    if found.isEmpty { try session.executeScript("CREATE DATABASE \(Cluster.database)", name: "CREATE DATABASE") }
  }

  /// Ends it and waits for its end; any number of callers, any number of times.
  func stop() {
    supervisor.stop()
    lock.release {
      // Later the file may be another owner's.
      _ = unlink(layout.urlFile)
      if !layout.socketFolder.hasPrefix(layout.home) { _ = rmdir(layout.socketFolder) }
    }
  }
}
