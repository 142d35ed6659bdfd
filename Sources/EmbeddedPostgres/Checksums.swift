import Glibc
import Platform
import Postgres

/// The data checksums of the embedded server, by which it notices a page that the disk has changed. New clusters have them.
package enum Checksums {
  /// Gives the database of a data folder that no other process uses data checksums; false if it has them.
  ///
  /// Blocks for as long as all files of the database are read and written. If it is interrupted, the database has none, and is as
  /// it was.
  package static func enable(_ configuration: EmbeddedPostgres.Configuration) throws(EmbeddedPostgresError) -> Bool {
    guard try Layout.holdsCluster(configuration.dataFolder) else {
      throw EmbeddedPostgresError.missing(in: configuration.dataFolder)
    }
    do {
      let folder = try Folder.resolved(configuration.dataFolder)
      let lock = try Upgrade.own(folder)
      defer { lock.release() }
      let cluster = try Cluster(in: folder, configuration)
      guard let version = cluster.version else { throw EmbeddedPostgresError.missing(in: folder) }
      try Upgrade.clean(cluster.layout)
      let binaries = try Binaries.installed(.creator(version))
      guard access(binaries.checksums, X_OK) == 0 else {
        throw EmbeddedPostgresError(
          "\(binaries.checksums) is missing",
          remedy: "Install the server programs (Debian: apt-get install postgresql-\(version))")
      }
      // pg_checksums requires a database that was shut down; the server of a machine that has crashed recovers it first.
      if try areEnabled(in: cluster, binaries, configuration) { return false }
      try cluster.enableChecksums(with: binaries)
      return true
    } catch {
      throw EmbeddedPostgresError(causedBy: error)
    }
  }

  private static func areEnabled(
    in cluster: Cluster, _ binaries: Binaries, _ configuration: EmbeddedPostgres.Configuration
  ) throws -> Bool {
    let server = try Server(of: cluster, with: binaries, report: configuration.report)
    defer {
      server.stop()
      if !cluster.layout.socketFolder.hasPrefix(cluster.layout.home) { _ = rmdir(cluster.layout.socketFolder) }
    }
    try server.waitUntilReady(until: .now + configuration.timeout)
    let session = try Session.connect(server.url, timeout: .seconds(5))
    return try session.execute("SHOW data_checksums").single().get(0) == "on"
  }
}
