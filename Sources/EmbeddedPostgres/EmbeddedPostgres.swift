import Glibc
import Platform
package import Postgres

/// A private PostgreSQL in a data folder: one process owns and supervises it, others attach.
///
/// It listens on a socket in a folder that only its user can open, never on the network, and dies with its owner.
package final class EmbeddedPostgres: Sendable {
  /// What to start and how.
  package struct Configuration: Sendable {
    /// The folder for everything that take5 keeps; made if it is missing.
    package var dataFolder: String
    /// False gives up safety against power loss for speed: for tests.
    package var isDurable = true
    /// How long a start, crash recovery included, may take.
    package var patience: Duration = .seconds(120)
    /// Told what the supervisor sees; on its thread.
    package var report: @Sendable (String) -> Void = { _ in }

    package init(dataFolder: String) { self.dataFolder = dataFolder }
  }

  /// Where the database is, for `Pool` and `Listener`.
  package let url: DatabaseURL
  private let supervisor: Supervisor?
  private let lock: OwnerLock?
  private let layout: Layout?

  private init(url: DatabaseURL, supervisor: Supervisor? = nil, lock: OwnerLock? = nil, layout: Layout? = nil) {
    self.url = url
    self.supervisor = supervisor
    self.lock = lock
    self.layout = layout
  }

  deinit { stop() }

  /// Whether this process owns the server; otherwise it uses another's.
  package var isOwner: Bool { supervisor != nil }

  /// The server's process id, if this process owns it and it runs now.
  package var process: Int32? { supervisor?.process }

  /// Becomes the owner and starts the server, or attaches to the owner's; returns when the database answers.
  ///
  /// Blocks: a new cluster takes about half a second, a start a twentieth.
  package static func start(_ configuration: Configuration) throws(EmbeddedPostgresError) -> EmbeddedPostgres {
    let folder: String
    do {
      // As root others must be able to pass through to what is theirs; they still cannot list it.
      try Folder.make(configuration.dataFolder, mode: geteuid() == 0 ? 0o711 : 0o700)
      folder = try Folder.resolved(configuration.dataFolder)
    } catch {
      throw EmbeddedPostgresError(error)
    }
    let limit = ContinuousClock.now + configuration.patience
    let urlFile = "\(folder)/postgres.url"
    while true {
      if let lock = try OwnerLock.take("\(folder)/postgres.lock") {
        return try own(folder, lock, configuration, until: limit)
      }
      // The owner may be about to start, or about to end and leave the lock to us.
      if let url = reachable(urlFile) { return EmbeddedPostgres(url: url) }
      guard ContinuousClock.now < limit else {
        throw EmbeddedPostgresError(
          "another process owns the database in \(folder), and it cannot be reached",
          remedy: "Look at \(folder)/postgres.log, or stop the process that holds \(folder)/postgres.lock")
      }
      usleep(20_000)
    }
  }

  /// Ends the server if this process owns it, and waits for its end; a second call does nothing.
  package func stop() {
    guard let supervisor, let layout else { return }
    supervisor.stop()
    // Once the lock is released the file may be another owner's: take it away before.
    if lock?.isHeld == true {
      _ = unlink(layout.urlFile)
      if !layout.socketFolder.hasPrefix(layout.home) { _ = rmdir(layout.socketFolder) }
    }
    lock?.release()
  }

  private static func own(
    _ folder: String, _ lock: OwnerLock, _ configuration: Configuration, until limit: ContinuousClock.Instant
  ) throws(EmbeddedPostgresError) -> EmbeddedPostgres {
    let supervisor: Supervisor
    let layout: Layout
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
    } catch let error as EmbeddedPostgresError {
      throw error
    } catch {
      throw EmbeddedPostgresError("\(error)")
    }
    let url = DatabaseURL(socketFolder: layout.socketFolder, user: Cluster.role, database: Cluster.database)
    do {
      try waitUntilReady(url, supervisor, until: limit)
      try SmallFile.write(url.connectionString, to: layout.urlFile)
    } catch {
      supervisor.stop()
      throw error as? EmbeddedPostgresError ?? EmbeddedPostgresError("\(error)")
    }
    return EmbeddedPostgres(url: url, supervisor: supervisor, lock: lock, layout: layout)
  }

  // A server says by answering, and by nothing else, that it is ready.
  private static func waitUntilReady(
    _ url: DatabaseURL, _ supervisor: Supervisor, until limit: ContinuousClock.Instant
  ) throws {
    while true {
      if let failure = supervisor.failure { throw failure }
      do {
        let session = try Session.connect(url.with(database: "postgres"), patience: .zero)
        let found = try session.execute("SELECT FROM pg_database WHERE datname = $1", .text(Cluster.database))
        if found.isEmpty { try session.executeScript("CREATE DATABASE \(Cluster.database)", name: "CREATE DATABASE") }
        return supervisor.markReady()
      } catch {
        guard error.isUnavailable || error.isConnectionLost else { throw error }
        guard ContinuousClock.now < limit else {
          throw EmbeddedPostgresError("PostgreSQL did not become ready in time: \(error)")
        }
        usleep(10_000)
      }
    }
  }

  private static func reachable(_ urlFile: String) -> DatabaseURL? {
    guard let line = SmallFile.read(urlFile), let url = try? DatabaseURL(line) else { return nil }
    guard (try? Session.connect(url, patience: .zero)) != nil else { return nil }
    return url
  }
}
