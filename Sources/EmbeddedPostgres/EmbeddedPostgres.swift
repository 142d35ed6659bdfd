import Glibc
import Platform
package import Postgres

/// A private PostgreSQL server in a data folder: one process owns and supervises it, other processes use it and stand
/// by.
///
/// The server listens on a Unix socket in a private folder, never on the network, and ends with its owner. Then a
/// stand-by becomes the owner and starts the server again under the same address.
package final class EmbeddedPostgres: Sendable {
  package struct Configuration: Sendable {
    /// The folder of the store; created if it is missing.
    package var dataFolder: String
    /// Whether this process is a service, which runs until it is stopped. While a service runs, only services become
    /// the owner.
    package var isService = false
    /// Whether a missing database is created; otherwise it is an error with `isMissing`.
    package var createsMissing = true
    /// False: commits do not wait for the disk, for tests.
    package var isDurable = true
    /// The time that a start may take, including crash recovery.
    package var timeout: Duration = .seconds(120)
    /// Called with events of the server for the log, on a thread of its own.
    package var report: @Sendable (String) -> Void = { _ in }

    package init(dataFolder: String) { self.dataFolder = dataFolder }
  }

  /// The address of the database, for `Pool` and `Listener`.
  package let url: DatabaseURL
  // One of them is nil: this process is the owner from the start, or a stand-by.
  let server: OwnedServer?
  let standBy: StandBy?
  private let serviceLock: FileLock?

  private init(url: DatabaseURL, server: OwnedServer? = nil, standBy: StandBy? = nil, serviceLock: FileLock?) {
    self.url = url
    self.server = server
    self.standBy = standBy
    self.serviceLock = serviceLock
  }

  deinit { stop() }

  /// Becomes the owner and starts the server, or uses the server of the owner and stands by; returns when the database
  /// accepts connections.
  ///
  /// Blocks: creating a cluster takes about 500 ms, a start about 50 ms.
  package static func start(_ configuration: Configuration) throws(EmbeddedPostgresError) -> EmbeddedPostgres {
    let folder: String
    do {
      guard try configuration.createsMissing || Layout.holdsCluster(configuration.dataFolder) else {
        throw EmbeddedPostgresError.missing(in: configuration.dataFolder)
      }
      // The server of root runs as another user, who needs search permission.
      try Folder.make(configuration.dataFolder, mode: geteuid() == 0 ? 0o711 : 0o700)
      folder = try Folder.resolved(configuration.dataFolder)
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
    let end = ContinuousClock.now + configuration.timeout
    let ownership = Ownership(folder: folder, isService: configuration.isService)
    let serviceLock = try ownership.lockService()
    while true {
      if let lock = try ownership.take() {
        let server = try OwnedServer(in: folder, lock, configuration)
        do throws(EmbeddedPostgresError) {
          try server.waitUntilReady(until: end)
        } catch {
          server.stop()
          throw error
        }
        return EmbeddedPostgres(url: server.url, server: server, serviceLock: serviceLock)
      }
      // Not reachable: the owner is starting or ending.
      if let url = reachable("\(folder)/postgres.url") {
        do {
          let standBy = try StandBy(ownership, configuration)
          try standBy.start()
          return EmbeddedPostgres(url: url, standBy: standBy, serviceLock: serviceLock)
        } catch {
          throw EmbeddedPostgresError(error)
        }
      }
      guard ContinuousClock.now < end else { throw ownership.unreachable }
      usleep(20_000)
    }
  }

  /// The major version of the installed PostgreSQL that would create a database; throws if there is none.
  package static func installedVersion() throws(EmbeddedPostgresError) -> Int {
    try Binaries.installed(.newest).version
  }

  /// Stops the server if this process owns it, and waits for its end; further calls do nothing.
  package func stop() {
    standBy?.stop()
    server?.stop()
    serviceLock?.release()
  }

  private static func reachable(_ urlFile: String) -> DatabaseURL? {
    guard let line = SmallFile.read(urlFile), let url = try? DatabaseURL(line) else { return nil }
    guard (try? Session.connect(url, timeout: .zero)) != nil else { return nil }
    return url
  }
}
