import Glibc
package import Platform
import Postgres

/// A change of the embedded server to another major version, newer or older.
///
/// pg_dump and pg_restore copy the database into a cluster of the other version, which then takes the place of the
/// present one in one step. Until then the present cluster stays as it is: whatever fails, the store goes on with it.
/// The way back is the same change to the former version, with all that was written since.
package struct Upgrade {
  /// What an upgrade has done.
  package struct Report: Sendable, Equatable {
    package let from: Int
    package let to: Int
    package var tables = 0
    package var rows = 0
    /// The folder of the former cluster; nil if the database already had the version.
    package var former: String?
  }

  private let cluster: Cluster
  private let from: Binaries
  private let to: Binaries
  private let configuration: EmbeddedPostgres.Configuration
  private let cancellation: CancellationFlag

  /// Upgrades the database of a data folder that no other process uses. Blocks for as long as the copy takes.
  ///
  /// - Parameters:
  ///   - version: the major version; nil: the newest that is installed.
  ///   - progress: called with a fraction from 0 to 1.
  ///   - cancellation: stops the copy; the database then stays as it is.
  package static func run(
    _ configuration: EmbeddedPostgres.Configuration, to version: Int?, progress: (Double) -> Void,
    cancellation: CancellationFlag
  ) throws(EmbeddedPostgresError) -> Report {
    guard try Layout.holdsCluster(configuration.dataFolder) else {
      throw EmbeddedPostgresError.missing(in: configuration.dataFolder)
    }
    let folder: String
    do throws(SystemError) {
      folder = try Folder.resolved(configuration.dataFolder)
    } catch {
      throw EmbeddedPostgresError(error)
    }
    guard let lock = try Ownership(folder: folder, isService: false).take() else {
      throw EmbeddedPostgresError(
        "another process uses the database in \(folder)",
        remedy: "Stop the service, its workers and all other commands first")
    }
    defer { lock.release() }
    let cluster = try Cluster(in: folder, isDurable: configuration.isDurable)
    guard let present = cluster.version else { throw EmbeddedPostgresError.missing(in: folder) }
    let to = try Binaries.installed(version.map(Binaries.Wanted.version) ?? .newest)
    guard to.version != present else { return Report(from: present, to: present) }
    let upgrade = Upgrade(
      cluster: cluster, from: try .installed(.creator(present)), to: to, configuration: configuration,
      cancellation: cancellation)
    return try upgrade.run(progress)
  }

  /// Removes what an interrupted upgrade has left; call it as the owner, before a server starts.
  static func clean(_ layout: Layout) throws(EmbeddedPostgresError) {
    guard access(layout.upgradeFolder, F_OK) == 0 else { return }
    // Its servers end with their owner, but not at once.
    try OrphanedServer.find(in: layout.next)?.stop()
    for cluster in [layout.next.cluster, layout.cluster] { try OrphanedProcesses(cluster: cluster).end() }
    for folder in [layout.next.socketFolder, layout.present.socketFolder] where !folder.hasPrefix(layout.home) {
      _ = rmdir(folder)
    }
    do throws(SystemError) {
      try Folder.remove(layout.upgradeFolder)
    } catch {
      throw EmbeddedPostgresError(error)
    }
  }

  private func run(_ progress: (Double) -> Void) throws(EmbeddedPostgresError) -> Report {
    let layout = cluster.layout
    try Self.clean(layout)
    configuration.report("copying the database from PostgreSQL \(from.version) to \(to.version)")
    var report = Report(from: from.version, to: to.version)
    do {
      try cluster.user.makePrivateFolder(layout.upgradeFolder)
      try cluster.user.makePrivateFolder("\(layout.upgradeFolder)/present")
      (report.tables, report.rows) = try copy(progress)
      let former = layout.former(from.version)
      // An even older one, from before a way back.
      try Folder.remove(former)
      try Folder.synchronize(layout.next.cluster)
      try Failpoint.exchange.around { () throws(SystemError) in
        try Folder.exchange(layout.next.cluster, layout.cluster)
      }
      try Failpoint.keep.around { () throws(SystemError) in
        guard rename(layout.next.cluster, former) == 0 else { throw SystemError(call: "rename", subject: former) }
      }
      try Folder.synchronize(layout.home)
      // A cluster of this version that a former upgrade has replaced: it lacks what was written since.
      try Folder.remove(layout.former(to.version))
      try Self.clean(layout)
      report.former = former
    } catch {
      try? Self.clean(layout)
      throw EmbeddedPostgresError(causedBy: error)
    }
    return report
  }

  /// Runs both servers, copies the database and compares both; returns the number of tables and of their rows.
  private func copy(_ progress: (Double) -> Void) throws -> (tables: Int, rows: Int) {
    let layout = cluster.layout
    let end = ContinuousClock.now + configuration.timeout
    let present = try Server(
      of: Cluster(layout: layout.present, user: cluster.user, isDurable: cluster.isDurable), with: from,
      report: configuration.report)
    defer { present.stop() }
    try present.waitUntilReady(until: end)
    let source = try Session.connect(present.url, timeout: .seconds(5))
    let size = try Self.size(source)
    try checkSpace(for: size)
    let next = try Server(
      of: Cluster(layout: layout.next, user: cluster.user, isDurable: cluster.isDurable), with: to,
      report: configuration.report)
    defer { next.stop() }
    try next.waitUntilReady(until: end)
    let target = try Session.connect(next.url, timeout: .seconds(5))
    // The newer pg_dump: an older one refuses the server.
    try DatabaseCopy(binaries: from.version > to.version ? from : to, from: present.url, to: next.url)
      .run(log: "\(layout.upgradeFolder)/copy.log") { () throws(EmbeddedPostgresError) in
        try checkCancellation()
        progress(0.9 * min(1, Double((try? Self.size(target)) ?? 0) / Double(max(size, 1))))
      }
    try target.executeScript("VACUUM (FREEZE, ANALYZE)", name: "VACUUM")
    progress(0.95)
    let (before, after) = (try Self.rows(source), try Self.rows(target))
    guard before == after else {
      let table = before.keys.sorted().first { before[$0] != after[$0] } ?? "a new table"
      throw EmbeddedPostgresError(
        "the copy of \(table) has \(after[table] ?? 0) rows instead of \(before[table] ?? 0); the database is unchanged"
      )
    }
    try checkCancellation()
    // So that the shutdown is a matter of milliseconds.
    try target.executeScript("CHECKPOINT", name: "CHECKPOINT")
    progress(1)
    return (before.count, before.values.reduce(0, +))
  }

  private func checkCancellation() throws(EmbeddedPostgresError) {
    if cancellation.isCancelled { throw EmbeddedPostgresError("the upgrade was cancelled; the database is unchanged") }
  }

  /// Throws if the file system may become full: by the rows and indexes, by their WAL, and by an empty cluster.
  private func checkSpace(for size: Int64) throws {
    let required = size + min(size, 1 << 30) + 128 << 20
    let free = try FileSystem(cluster.layout.home).freeBytes
    guard free >= required else {
      throw EmbeddedPostgresError(
        "the copy of the database requires \(required >> 20) MiB, and \(free >> 20) MiB are free",
        remedy: "Free space on the file system of \(cluster.layout.home)")
    }
  }

  private static func size(_ session: borrowing Session) throws(PostgresError) -> Int64 {
    try session.execute("SELECT pg_database_size(current_database())").single().get(0)
  }

  /// The number of rows of each table.
  private static func rows(_ session: borrowing Session) throws -> [String: Int] {
    let tables = try session.execute(
      """
      SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE relkind = 'r' AND relpersistence <> 't' AND nspname NOT IN ('pg_catalog', 'information_schema')
      """)
    var rows: [String: Int] = [:]
    for row in tables {
      let table: String = try row.get(0)
      rows[table] = try session.execute("SELECT count(*) FROM \(table)").single().get(0)
    }
    return rows
  }
}

extension Failpoint {
  static let exchange = Failpoint("upgrade.exchange")
  static let keep = Failpoint("upgrade.keep")
}

extension Upgrade {
  /// The failpoints of an upgrade.
  package static let failpoints: [Failpoint] = [.exchange, .keep]
}

/// A copy of a database by `pg_dump` and `pg_restore`, connected by a pipe.
struct DatabaseCopy {
  let binaries: Binaries
  let from: DatabaseURL
  let to: DatabaseURL

  private static let interval = Duration.milliseconds(200)

  /// Runs both programs until they end; ends them if `meanwhile`, which is called again and again, throws.
  ///
  /// - Parameter path: the file of what they report.
  func run(log path: String, meanwhile: () throws(EmbeddedPostgresError) -> Void) throws {
    for program in [binaries.dump, binaries.restore] where access(program, X_OK) != 0 {
      throw EmbeddedPostgresError(
        "\(program) is missing",
        remedy: "Install the client programs (Debian: apt-get install postgresql-client-\(binaries.version))")
    }
    let log = try Descriptor(writing: path, replacing: true, mode: 0o600)
    let pipe = try Self.pipe()
    let dump = try ChildProcess(
      configuration(binaries.dump, ["--format=custom", "--compress=0"], from, [nil, pipe.writer.number, log.number]))
    let restore = try ChildProcess(
      configuration(
        binaries.restore, ["--dbname=\(Cluster.database)"], to, [pipe.reader.number, log.number, log.number]))
    // Otherwise the end of one would not be noticed by the other.
    pipe.close()
    while !restore.waitForEnd(atMost: Self.interval) { try meanwhile() }
    let (restored, dumped) = (restore.wait(), dump.wait())
    let text = SmallFile.text(of: path, from: 0)
    if let failure = Self.failure(dumped, restored, text) {
      throw EmbeddedPostgresError("the database cannot be copied: \(failure); it is unchanged")
    }
  }

  /// The first error of the programs; nil if they have copied everything.
  ///
  /// An older server does not know all settings that pg_restore sets for its session, such as `transaction_timeout`
  /// before version 17: pg_restore goes on without them, and ends with status 1.
  static func failure(_ dumped: ChildProcess.Ending, _ restored: ChildProcess.Ending, _ log: String) -> String? {
    let errors = log.split(separator: "\n").filter { line in
      line.hasPrefix("pg_dump: error: ") || line.hasPrefix("pg_restore: error: ")
    }
    if let error = errors.first(where: { !$0.contains("ERROR:  unrecognized configuration parameter ") }) {
      return String(error)
    }
    guard dumped == .exited(0) else { return "pg_dump: \(dumped)" }
    guard restored == .exited(0) || (restored == .exited(1) && !errors.isEmpty) else {
      return "pg_restore: \(restored)"
    }
    return nil
  }

  private func configuration(
    _ program: String, _ arguments: [String], _ url: DatabaseURL, _ descriptors: [Int32?]
  ) -> ChildProcess.Configuration {
    var configuration = ChildProcess.Configuration(path: program, arguments: arguments)
    configuration.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"].merging(url.environment) { _, ours in ours }
    configuration.descriptors = descriptors
    configuration.newSession = true
    return configuration
  }

  /// The ends of a pipe.
  private struct Pipe: ~Copyable {
    let reader: Descriptor
    let writer: Descriptor

    consuming func close() {}
  }

  private static func pipe() throws(SystemError) -> Pipe {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
    return Pipe(reader: Descriptor(owning: ends[0]), writer: Descriptor(owning: ends[1]))
  }
}
