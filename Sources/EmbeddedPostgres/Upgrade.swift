import Glibc
package import Platform
package import Postgres

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
  ///   - finish: called with sessions of the database and of its copy, which then takes its place.
  ///   - progress: called with a fraction from 0 to 1.
  ///   - cancellation: stops the copy; the database then stays as it is.
  package static func run(
    _ configuration: EmbeddedPostgres.Configuration, to version: Int?,
    finish: (_ former: Session, _ copy: Session) throws -> Void, progress: (Double) -> Void,
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
    let lock = try own(folder)
    defer { lock.release() }
    let cluster = try Cluster(in: folder, configuration)
    guard let present = cluster.version else { throw EmbeddedPostgresError.missing(in: folder) }
    let to = try Binaries.installed(version.map(Binaries.Wanted.version) ?? .newest)
    guard to.version != present else { return Report(from: present, to: present) }
    let upgrade = Upgrade(
      cluster: cluster, from: try .installed(.creator(present)), to: to, configuration: configuration,
      cancellation: cancellation)
    return try upgrade.run(finish, progress)
  }

  /// Becomes the owner of a data folder that no other process uses.
  static func own(_ folder: String) throws(EmbeddedPostgresError) -> FileLock {
    let ownership = Ownership(folder: folder, isService: false)
    // Another command that checks at the same time looks like a service for a moment.
    for _ in 0..<50 {
      if let lock = try ownership.take() { return lock }
      usleep(20_000)
    }
    throw EmbeddedPostgresError(
      "another process uses the database in \(folder)",
      remedy: "Stop the service, its workers and all other commands first")
  }

  /// Removes what an interrupted upgrade has left; call it as the owner, before a server starts.
  static func clean(_ layout: Layout) throws(EmbeddedPostgresError) {
    guard access(layout.upgradeFolder, F_OK) == 0 else { return }
    // Its servers end with their owner, but not at once.
    for server in [layout, layout.target] { try OrphanedServer.find(in: server)?.stop() }
    for cluster in [layout.cluster, layout.target.cluster, layout.target.unfinishedCluster] {
      try OrphanedProcesses(cluster: cluster).end()
    }
    do throws(SystemError) {
      // A copy under the name of the former cluster, with which it was not exchanged.
      if let present = Layout.version(of: layout.cluster) {
        let copy = layout.former(present)
        if Layout.version(of: copy) != present { try Folder.remove(copy) }
      }
      for folder in [layout.source.socketFolder, layout.target.socketFolder, layout.upgradeFolder] {
        try Folder.remove(folder)
      }
    } catch {
      throw EmbeddedPostgresError(error)
    }
  }

  private func run(
    _ finish: (Session, Session) throws -> Void, _ progress: (Double) -> Void
  ) throws(EmbeddedPostgresError) -> Report {
    let layout = cluster.layout
    try Self.clean(layout)
    configuration.report("copying the database from PostgreSQL \(from.version) to \(to.version)")
    let former = layout.former(from.version)
    let (tables, rows): (Int, Int)
    do {
      try prepare()
      (tables, rows) = try Failpoint.copy.around { () throws in try copy(finish, progress) }
      // Under its final name the former cluster survives whatever happens after the exchange.
      try Self.rename(layout.target.cluster, former)
      try Folder.synchronize(layout.home)
      try Failpoint.exchange.around { () throws(SystemError) in try Folder.exchange(former, layout.cluster) }
    } catch {
      try? Self.clean(layout)
      throw EmbeddedPostgresError(causedBy: error)
    }
    do {
      try Folder.synchronize(layout.home)
      try Self.clean(layout)
    } catch {
      configuration.report("the upgrade is done, and left files that the next start removes: \(error)")
    }
    return Report(from: from.version, to: to.version, tables: tables, rows: rows, former: former)
  }

  /// Creates the folders of both servers, and removes the clusters that earlier upgrades have kept.
  private func prepare() throws {
    let layout = cluster.layout
    let folders = ["source", "target"].map { "\(layout.upgradeFolder)/\($0)" }
    for folder in [layout.upgradeFolder] + folders { try cluster.user.makePrivateFolder(folder) }
    do throws(SystemError) {
      try Folder.exchange(folders[0], folders[1])
    } catch {
      throw EmbeddedPostgresError(
        "the file system of \(layout.home) cannot exchange two folders (\(error))",
        remedy: "Make a backup with 'take5 backup', and restore it into a new store of the other version")
    }
    // A folder whose version differs from its name belongs to another program.
    for (path, version) in try layout.formerClusters() where Layout.version(of: path) == version {
      try Folder.remove(path)
    }
  }

  private static func rename(_ path: String, _ name: String) throws(SystemError) {
    guard Glibc.rename(path, name) == 0 else { throw SystemError(call: "rename", subject: path) }
  }

  /// Runs both servers, copies the database and compares both; returns the number of tables and of their rows.
  private func copy(
    _ finish: (Session, Session) throws -> Void, _ progress: (Double) -> Void
  ) throws -> (tables: Int, rows: Int) {
    let layout = cluster.layout
    let source = try start(layout.source, from)
    defer { source.stop() }
    let old = try Session.connect(source.url, timeout: .seconds(5))
    let size = try Self.size(old)
    try checkSpace(for: size)
    let target = try start(layout.target, to)
    defer { target.stop() }
    let new = try Session.connect(target.url, timeout: .seconds(5))
    try checkContents(of: old, in: new)
    // pg_dump is the server's own: what a server of a later minor version stores for itself in its catalogs, another pg_dump may take
    // for something that users have set. Of pg_restore the newer one reads the archives of both.
    let newer = from.version > to.version ? from : to
    try DatabaseCopy(
      dumping: from, restoring: newer, from: source.url, to: target.url, folder: layout.dataFolder
    ).run {
      () throws(EmbeddedPostgresError) in
      try checkCancellation()
      progress(0.9 * min(1, Double((try? Self.size(new)) ?? 0) / Double(max(size, 1))))
    }
    try new.executeScript("VACUUM (FREEZE, ANALYZE)", name: "VACUUM")
    progress(0.95)
    let (before, after) = (try rows(old), try rows(new))
    guard before == after else {
      let table = before.keys.sorted().first { before[$0] != after[$0] } ?? "a new table"
      throw EmbeddedPostgresError(
        "the copy of \(table) has \(after[table] ?? 0) rows instead of \(before[table] ?? 0); the database is unchanged"
      )
    }
    try finish(old, new)
    // So that the shutdown is a matter of milliseconds.
    try new.executeScript("CHECKPOINT", name: "CHECKPOINT")
    progress(1)
    return (before.count, before.values.reduce(0, +))
  }

  private func start(_ layout: Layout, _ binaries: Binaries) throws(EmbeddedPostgresError) -> Server {
    let server = try Server(
      of: Cluster(layout, like: cluster), with: binaries, report: configuration.report)
    do throws(EmbeddedPostgresError) {
      try server.waitUntilReady(until: .now + configuration.timeout)
    } catch {
      server.stop()
      throw error
    }
    return server
  }

  /// Throws if the present cluster has anything that the copy would lack.
  private func checkContents(of old: borrowing Session, in new: borrowing Session) throws {
    let missing = try ClusterContents(old).missing(in: ClusterContents(new))
    guard missing.isEmpty else {
      throw EmbeddedPostgresError(
        "the upgrade does not copy settings and objects outside of the store's database: \(missing.joined(separator: ", "))",
        remedy: "Note and remove it (ALTER SYSTEM RESET, DROP ROLE, DROP DATABASE), upgrade, and set it again")
    }
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
  private func rows(_ session: borrowing Session) throws -> [String: Int] {
    let tables = try session.execute(
      """
      SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE relkind = 'r' AND relpersistence <> 't' AND nspname NOT IN ('pg_catalog', 'information_schema')
      """)
    var rows: [String: Int] = [:]
    for row in tables {
      try checkCancellation()
      let table: String = try row.get(0)
      rows[table] = try session.execute("SELECT count(*) FROM \(table)").single().get(0)
    }
    return rows
  }
}

extension Failpoint {
  static let copy = Failpoint("upgrade.copy")
  static let exchange = Failpoint("upgrade.exchange")
}

extension Upgrade {
  /// The failpoints of an upgrade.
  package static let failpoints: [Failpoint] = [.copy, .exchange]
}

/// A copy of a database by `pg_dump` and `pg_restore`, connected by a pipe.
struct DatabaseCopy {
  /// The programs of the server that is read.
  let dumping: Binaries
  /// The programs of the newer server.
  let restoring: Binaries
  let from: DatabaseURL
  let to: DatabaseURL
  /// The folder of an unnamed file with what both programs report.
  let folder: String

  private static let interval = Duration.milliseconds(200)

  /// Runs both programs until they end; ends them if `meanwhile`, which is called again and again, throws.
  func run(_ meanwhile: () throws(EmbeddedPostgresError) -> Void) throws {
    for (program, binaries) in [(dumping.dump, dumping), (restoring.restore, restoring)]
    where access(program, X_OK) != 0 {
      throw EmbeddedPostgresError(
        "\(program) is missing",
        remedy: "Install the client programs (Debian: apt-get install postgresql-client-\(binaries.version))")
    }
    let log = try Descriptor(unnamedIn: folder)
    let pipe = try Self.pipe()
    let dump = try ChildProcess(
      configuration(dumping.dump, ["--format=custom", "--compress=0"], from, [nil, pipe.writer.number, log.number]))
    let restore = try ChildProcess(
      configuration(
        restoring.restore, ["--dbname=\(Cluster.database)"], to, [pipe.reader.number, log.number, log.number]))
    // Otherwise the end of one would not be noticed by the other.
    pipe.close()
    while !restore.waitForEnd(atMost: Self.interval) { try meanwhile() }
    let (restored, dumped) = (restore.wait(), dump.wait())
    let text = String(decoding: try log.contents(), as: UTF8.self)
    if let failure = Self.failure(dumped, restored, text) {
      throw EmbeddedPostgresError("the database cannot be copied: \(failure); it is unchanged")
    }
  }

  /// The first error of the programs; nil if they have copied everything.
  ///
  /// An older server does not know all settings that pg_restore sets for its session, such as `transaction_timeout`
  /// before version 17. pg_restore goes on without them, counts them in its last line, and ends with status 1.
  static func failure(_ dumped: ChildProcess.Ending, _ restored: ChildProcess.Ending, _ log: String) -> String? {
    let lines = log.split(separator: "\n")
    var ignored = 0
    for (index, line) in lines.enumerated() where line.hasPrefix("pg_dump: error: ") || line.hasPrefix(restoreError) {
      guard line.hasPrefix("\(restoreError)could not execute query: ERROR:  unrecognized configuration parameter "),
        index + 1 < lines.count, lines[index + 1].hasPrefix("Command was: SET ")
      else { return String(line) }
      ignored += 1
    }
    let isRestored =
      ignored == 0
      ? restored == .exited(0)
      : restored == .exited(1) && lines.last == "pg_restore: warning: errors ignored on restore: \(ignored)"
    guard isRestored else { return "pg_restore: \(lines.last.map(String.init) ?? "\(restored)")" }
    return dumped == .exited(0) ? nil : "pg_dump: \(lines.last.map(String.init) ?? "\(dumped)")"
  }

  private static let restoreError = "pg_restore: error: "

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
