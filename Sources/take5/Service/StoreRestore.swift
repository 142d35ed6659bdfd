import Blobs
import EmbeddedPostgres
import FoundationEssentials
import Integrity
import Kit
import Model
import Platform
import Postgres
import Rooms
import Store
import Telemetry

/// Makes a store from a backup: its blobs first, then its database in one transaction, so that an interruption leaves an
/// empty database, into which the next run restores.
struct StoreRestore: Sendable {
  private let folder: BackupFolder
  private let arguments: Arguments
  private let parallel: Int

  init(_ folder: BackupFolder, _ arguments: Arguments) throws(CommandFailure) {
    self.folder = folder
    self.arguments = arguments
    parallel = try arguments.number(Option.parallelCopies.name) ?? 4
  }

  private var data: String { arguments.value(Option.data.name) ?? "" }

  func run() async throws -> RestoreResult {
    let manifest = try manifest()
    let place = try BlobOptions.place(arguments.value(BlobOptions.blobs.name), arguments)
    try checkEmpty(place, for: manifest)
    try checkPrograms(for: manifest)
    let dump = "\(folder.path)/\(manifest.dump.file)"
    guard try await DatabaseDump.digest(of: dump).hash == manifest.dump.sha256 else {
      throw CommandFailure(
        .io, "\(dump) is damaged: its SHA-256 is not the one that the backup names", remedy: "name another backup")
    }
    let database = try await DatabaseAccess.open(
      arguments, connections: parallel + 1, schema: .any, isCreating: true, log: Logger(lowest: .warning))
    let outcome: Result<RestoreResult, any Error>
    do {
      let dump = DatabaseDump(path: dump, url: try database.programURL())
      outcome = .success(try await restore(manifest, dump, to: place, database))
    } catch {
      outcome = .failure(error)
    }
    await database.close()
    return try outcome.get()
  }

  private func manifest() throws -> BackupManifest {
    guard let manifest = try folder.manifest() else {
      let message =
        folder.isUnfinished
        ? "the first backup into \(folder.path) has not ended" : "no backup found in \(folder.path)"
      throw CommandFailure(.inputMissing, message, remedy: "name a folder that 'take5 backup' has written")
    }
    guard manifest.schema <= [Migration].all.map(\.version).max() ?? 0 else {
      throw CommandFailure(
        .rejected, "the backup comes from take5 \(manifest.version), which is newer than this program",
        remedy: "restore it with that version or a newer one")
    }
    try Migrator(.all).check([manifest.schema])
    return manifest
  }

  /// Refuses a place that has blobs, unless they belong to this store: an interrupted run has copied them.
  private func checkEmpty(_ place: BlobOptions.Place, for manifest: BackupManifest) throws {
    let found: PublicID?
    do {
      found = try place.place.id()
    } catch let error as BlobError {
      throw CommandFailure(.io, "the blobs in \(place.name) cannot be used: \(error)", remedy: place.remedy)
    }
    if found == manifest.store { return }
    let isFolder = place.bucket == nil && Folder.isFolder(place.name)
    guard try found == nil && (!isFolder || Folder.names(in: place.name).isEmpty) else { throw occupied(place.name) }
  }

  private func occupied(_ name: String) -> CommandFailure {
    CommandFailure(
      .rejected, "there is a store in \(name), and a backup is restored only where there is none",
      remedy: "stop its service and move it away, or name another folder with --data, or an empty database with "
        + "--database")
  }

  /// Refuses a new embedded server that is older than the backup's, before it is created.
  private func checkPrograms(for manifest: BackupManifest) throws {
    if try arguments.secret(.database) == nil {
      try checkVersion(try EmbeddedPostgres.installedVersion(), for: manifest)
    }
  }

  private func checkVersion(_ version: Int, for manifest: BackupManifest) throws(CommandFailure) {
    guard version >= manifest.postgres else {
      throw CommandFailure(
        .rejected, "the backup comes from PostgreSQL \(manifest.postgres), and this server has version \(version)",
        remedy: "use PostgreSQL \(manifest.postgres) or newer (Debian: apt-get install postgresql-\(manifest.postgres))"
      )
    }
  }

  private func restore(
    _ manifest: BackupManifest, _ dump: DatabaseDump, to place: BlobOptions.Place, _ database: DatabaseAccess
  ) async throws -> RestoreResult {
    let pool = database.pool
    let (isInUse, facts) = try await pool.run { session in
      (try DatabaseFacts.isInUse(session), try DatabaseFacts(session))
    }
    guard !isInUse else { throw occupied(database.isEmbedded ? data : database.url.description) }
    try checkVersion(facts.majorVersion, for: manifest)
    let programs = try ClientPrograms(.restore, .shell, forServer: facts.majorVersion)
    let rows = try await dump.rows(with: programs)
    try Folder.make(data, mode: 0o700)
    let (blobs, _) = try place.place.open(manifest.store)
    let bar = ProgressBar("copying")
    let copy = BlobCopy(
      from: try FolderBlobStore(folder: folder.blobs), to: blobs, parallel: parallel, readsPresent: true
    ) { fraction in
      bar.show(fraction)
    }
    var copied: BlobCopy.Report
    do {
      defer { bar.clear() }
      copied = try await copy.run(rows)
    }
    let revokes = arguments.has("--revoke-keys")
    try await dump.restore(with: programs, then: revokes ? [Keys.revocation] : [])
    try await pool.run { session in
      try Migrator(.all).migrate(session)
      try session.executeScript("ANALYZE", name: "ANALYZE")
    }
    // The backups of earlier versions lack the files of sources whose rows have the content.
    try await copy.complete(&copied, from: pool)
    // A move that had not ended has ended here: these are the blobs.
    try await pool.run { session in _ = try Moving.cancel(session) }
    _ = try await DatabaseBlobs.open(in: place.place, isAdopting: true, pool)
    let store = Store(blobs: blobs, rooms: .all)
    let progress = StageProgress()
    let verifier = Verifier(pool: pool, store: store, blobs: blobs, parallel: parallel) { stage, fraction in
      progress.show(stage, fraction)
    }
    defer { progress.clear() }
    let report = try await verifier.run()
    let keys = try await pool.run { session in try Keys.list(session) }
    return RestoreResult(
      manifest, copied, findings: report.findings, keys: keys.filter { $0.revokedAt == nil }, keysRevoked: revokes)
  }
}
