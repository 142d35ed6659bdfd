import Glibc
import Platform
import Postgres

/// The server of a data folder that this process owns, with the address for other processes.
final class OwnedServer: Sendable {
  private let server: Server
  private let lock: FileLock
  private let layout: Layout

  var url: DatabaseURL { server.url }
  /// The process id of the server while it runs.
  var process: Int32? { server.process }

  /// Starts the server; `waitUntilReady` waits until it accepts connections.
  ///
  /// - Parameter lock: the owner's lock, which is released once the server has ended.
  init(
    in folder: String, _ lock: FileLock, _ configuration: EmbeddedPostgres.Configuration
  ) throws(EmbeddedPostgresError) {
    let cluster = try Cluster(in: folder, configuration)
    try Upgrade.clean(cluster.layout)
    let binaries = try Binaries.installed(cluster.version.map(Binaries.Wanted.creator) ?? .newest)
    server = try Server(of: cluster, with: binaries, report: configuration.report)
    layout = cluster.layout
    self.lock = lock
  }

  /// Waits until the server accepts connections, and writes the URL file for other processes.
  ///
  /// - Parameter end: nil: waits until the server is ready or stopped.
  func waitUntilReady(until end: ContinuousClock.Instant?) throws(EmbeddedPostgresError) {
    try server.waitUntilReady(until: end)
    do {
      try SmallFile.write(url.connectionString, to: layout.urlFile)
    } catch {
      throw EmbeddedPostgresError(error)
    }
  }

  /// Stops the server and waits for its end; may be called by several threads and repeatedly.
  func stop() {
    server.stop()
    lock.release {
      // Before the lock is released: later the file may be the next owner's.
      _ = unlink(layout.urlFile)
      if !layout.socketFolder.hasPrefix(layout.home) { _ = rmdir(layout.socketFolder) }
    }
  }
}
