import Glibc
import Platform
package import Postgres

/// A private PostgreSQL in a data folder: one process owns and supervises it, others use it and stand by.
///
/// It listens on a socket in a folder that only its user can open, never on the network, and dies with its owner. Then one
/// of those who are left takes the owner's place, and the server is back under the same address.
package final class EmbeddedPostgres: Sendable {
  /// What to start and how.
  package struct Configuration: Sendable {
    /// The folder for everything that take5 keeps; made if it is missing.
    package var dataFolder: String
    /// Whether this process serves until it is stopped. While such a one lives, no other process owns the server.
    package var isService = false
    /// Whether a folder that holds no database gets one; otherwise that is an error, whose `isMissing` tells.
    package var makesMissing = true
    /// False gives up safety against power loss for speed: for tests.
    package var isDurable = true
    /// How long a start, crash recovery included, may take.
    package var timeout: Duration = .seconds(120)
    /// Told what is seen of the server; on a thread of its own.
    package var report: @Sendable (String) -> Void = { _ in }

    package init(dataFolder: String) { self.dataFolder = dataFolder }
  }

  /// Where the database is, for `Pool` and `Listener`.
  package let url: DatabaseURL
  // Owned from the beginning, or else waited for.
  private let server: OwnedServer?
  private let standBy: StandBy?
  private let announcement: FileLock?

  private init(url: DatabaseURL, server: OwnedServer? = nil, standBy: StandBy? = nil, announcement: FileLock?) {
    self.url = url
    self.server = server
    self.standBy = standBy
    self.announcement = announcement
  }

  deinit { stop() }

  private var owned: OwnedServer? { server ?? standBy?.server }

  /// Whether this process owns the server now; otherwise it uses another's.
  package var isOwner: Bool { owned != nil }

  /// The server's process id, if this process owns it and it runs now.
  package var process: Int32? { owned?.process }

  /// Becomes the owner and starts the server, or uses the owner's and stands by; returns when the database answers.
  ///
  /// Blocks: a new cluster takes about half a second, a start a twentieth.
  package static func start(_ configuration: Configuration) throws(EmbeddedPostgresError) -> EmbeddedPostgres {
    let folder: String
    do {
      guard try configuration.makesMissing || Layout.holdsCluster(configuration.dataFolder) else {
        throw EmbeddedPostgresError.missing(in: configuration.dataFolder)
      }
      // As root others must be able to pass through to what is theirs; they still cannot list it.
      try Folder.make(configuration.dataFolder, mode: geteuid() == 0 ? 0o711 : 0o700)
      folder = try Folder.resolved(configuration.dataFolder)
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
    let limit = ContinuousClock.now + configuration.timeout
    let place = OwnerPlace(folder: folder, isService: configuration.isService)
    let announcement = try place.announceService()
    while true {
      if let lock = try place.take() {
        let server = try OwnedServer(in: folder, lock, configuration)
        do throws(EmbeddedPostgresError) {
          try server.waitUntilReady(until: limit)
        } catch {
          server.stop()
          throw error
        }
        return EmbeddedPostgres(url: server.url, server: server, announcement: announcement)
      }
      // The owner may be about to start, or about to end and leave its place to us or to a service.
      if let url = reachable("\(folder)/postgres.url") {
        do {
          let standBy = try StandBy(place, configuration)
          try standBy.start()
          return EmbeddedPostgres(url: url, standBy: standBy, announcement: announcement)
        } catch {
          throw EmbeddedPostgresError(error)
        }
      }
      guard ContinuousClock.now < limit else { throw place.unreachable }
      usleep(20_000)
    }
  }

  /// Ends the server if this process owns it, and waits for its end; a second call does nothing.
  package func stop() {
    standBy?.stop()
    server?.stop()
    announcement?.release()
  }

  private static func reachable(_ urlFile: String) -> DatabaseURL? {
    guard let line = SmallFile.read(urlFile), let url = try? DatabaseURL(line) else { return nil }
    guard (try? Session.connect(url, timeout: .zero)) != nil else { return nil }
    return url
  }
}
