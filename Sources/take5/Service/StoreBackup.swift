import Blobs
import Crypto
import EmbeddedPostgres
import FoundationEssentials
import Glibc
import Integrity
import Model
import Platform
import Postgres
import Store

/// Makes a backup of a store, or brings one up to date, while others use the store.
struct StoreBackup: Sendable {
  let database: DatabaseAccess
  let blobs: any InspectableBlobStore
  let folder: BackupFolder
  /// The number of blobs that are copied or read at the same time.
  let parallel: Int
  /// Whether blobs that the backup has are read, or only their lengths compared.
  let readsPresent: Bool
  let progress: @Sendable (Double) -> Void

  /// What a backup has done.
  struct Report: Sendable {
    let manifest: BackupManifest
    let copy: BlobCopy.Report
  }

  /// The time after which blobs may be removed again although the backup has not ended: it was killed.
  private static let maxHold = Duration.seconds(86_400)

  /// Makes the backup, with no removal of blobs meanwhile.
  func run() async throws -> Report {
    let (known, facts) = try await database.pool.run { session in
      (try Moving.storeIDs(session), try DatabaseFacts(session))
    }
    guard let known else { throw CommandFailure(.internal, "the store has no id") }
    let lock = try folder.begin(for: known)
    defer { withExtendedLifetime(lock) {} }
    let end = try await database.pool.transaction { session in
      try Collecting.hold(for: Self.maxHold, session)
    }
    let outcome: Result<Report, any Error>
    do { outcome = .success(try await run(known.current, facts)) } catch { outcome = .failure(error) }
    // In a task of its own, which is not cancelled.
    let releasing = Task { [pool = database.pool] in
      try await pool.run { session in try Collecting.releaseHold(heldUntil: end, session) }
    }
    do { try await releasing.value } catch {
      Console.note(
        "take5: warning: no blobs are removed until \(JSON.text(of: end)): \(error)\n"
          + "       'take5 gc release' ends that earlier")
    }
    return try outcome.get()
  }

  private func run(_ id: PublicID, _ facts: DatabaseFacts) async throws -> Report {
    let programs = try ClientPrograms(.dump, .restore, forServer: facts.majorVersion)
    let url = try database.programURL()
    let time = Date()
    let name = try folder.createDump(at: time)
    let dump = DatabaseDump(path: "\(folder.path)/\(name)", url: url)
    // A hold belongs to the store, not to its copy.
    try await dump.write(with: programs, withoutRowsOf: "collection_hold")
    let rows = try await dump.rows(with: programs)
    let (digest, bytes) = try await DatabaseDump.digest(of: dump.path)
    let copy = BlobCopy(
      from: blobs, to: try FolderBlobStore(folder: folder.blobs, id: id), parallel: parallel,
      readsPresent: readsPresent, progress: progress)
    var report = try await copy.run(rows)
    try await copy.complete(&report, from: database.pool)
    let manifest = BackupManifest(
      version: ThisProcess.version, createdAt: time, store: id, schema: facts.applied.max() ?? 0,
      postgres: facts.majorVersion, dump: BackupManifest.Dump(file: name, bytes: bytes, sha256: digest),
      counts: BackupManifest.Counts(rows, missing: report.missing.count))
    try Task.checkCancellation()
    try folder.finish(manifest)
    try await copy.prune(rows, &report)
    return Report(manifest: manifest, copy: report)
  }
}

/// A dump of the database, written and read by PostgreSQL's programs.
struct DatabaseDump: Sendable {
  let path: String
  let url: DatabaseURL

  /// Writes the dump with `pg_dump`; it is on the disk when this returns.
  func write(with programs: ClientPrograms, withoutRowsOf table: String) async throws {
    try await run(
      programs, .dump, ["--format=custom", "--no-password", "--exclude-table-data=\(table)", "--file=\(path)"])
  }

  /// Reads all of the dump with `pg_restore`, which throws if it is damaged.
  func rows(with programs: ClientPrograms) async throws -> DumpedRows {
    let sources = try await read(DumpedSources(), with: programs, DumpedSources.tables.map { "--table=\($0)" })
    let rows = try await read(DumpedRows(sources: sources), with: programs, [])
    try rows.checkEnd()
    return rows
  }

  /// Reads the script that `pg_restore` writes of the rows of the dump.
  private func read<Reader: DumpReader>(
    _ reader: Reader, with programs: ClientPrograms, _ selection: [String]
  ) async throws -> Reader {
    let script = configuration(programs, .restore, ["--data-only", "--file=-"] + selection + [path])
    return try await ProgramGroup.run { group in
      let pipe = try PipeEnds()
      var configuration = script
      configuration.descriptors = [nil, pipe.writer?.descriptor.number, 2]
      var reader = reader
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
      defer { buffer.deallocate() }
      let ending = try group.run(configuration) {
        pipe.writer = nil
        while let count = try pipe.read(into: buffer), count > 0 {
          try reader.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
      }
      try check(ending, .restore)
      return reader
    }
  }

  /// The SHA-256 of the file of a dump, and its length.
  static func digest(of path: String) async throws -> (hash: SHA256Digest, bytes: Int64) {
    try await onThread("digest") {
      let file = try Descriptor(reading: path)
      return (try SHA256.digest(of: file), try file.size())
    }
  }

  /// Restores the dump into the database, which is empty, in one transaction, and executes statements at its end.
  func restore(with programs: ClientPrograms, then statements: [String]) async throws {
    let shell = configuration(
      programs, .shell, ["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-"])
    // A role that does not exist here owns nothing, and an extension that exists may be an administrator's.
    let script = configuration(
      programs, .restore, ["--no-owner", "--no-privileges", "--no-comments", "--file=-", path])
    // The script ends without a search path.
    let end = "RESET search_path;\n" + statements.map { $0 + ";\n" }.joined() + "COMMIT;\n"
    try await ProgramGroup.run { group in
      let pipe = try PipeEnds()
      var (shell, script) = (shell, script)
      shell.descriptors = [pipe.reader?.descriptor.number, nil, 2]
      script.descriptors = [nil, pipe.writer?.descriptor.number, 2]
      var written: Result<Void, any Error> = .success(())
      let ending = try group.run(shell) {
        pipe.reader = nil
        written = Result {
          try pipe.write("BEGIN;\n")
          try check(try group.run(script), .restore)
          // Without it the shell rolls back.
          try pipe.write(end)
        }
        pipe.writer = nil
      }
      // A failure of the shell is the cause of those before it.
      try check(ending, .shell)
      try written.get()
    }
  }

  private func run(_ programs: ClientPrograms, _ name: ClientPrograms.Name, _ arguments: [String]) async throws {
    let configuration = configuration(programs, name, arguments)
    let ending = try await ProgramGroup.run { group in try group.run(configuration) }
    try check(ending, name)
  }

  private func configuration(
    _ programs: ClientPrograms, _ name: ClientPrograms.Name, _ arguments: [String]
  ) -> ChildProcess.Configuration {
    var configuration = ChildProcess.Configuration(path: programs.path(name), arguments: arguments)
    configuration.environment = Environment.variables().merging(url.environment) { _, ours in ours }
    configuration.newSession = true
    // PostgreSQL's programs complain of a working folder that their user may not enter, such as root's.
    configuration.directory = path.hasPrefix("/") ? "/" : nil
    return configuration
  }

  private func check(_ ending: ChildProcess.Ending, _ name: ClientPrograms.Name) throws {
    try Task.checkCancellation()
    guard ending == .exited(0) else {
      throw CommandFailure(.io, "\(name.rawValue) \(ending.reason)", remedy: "its message stands above")
    }
  }
}

/// A pipe between two programs; each end is closed when its property becomes nil.
private final class PipeEnds {
  var reader: OpenFile?
  var writer: OpenFile?

  init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
    reader = OpenFile(Descriptor(owning: ends[0]))
    writer = OpenFile(Descriptor(owning: ends[1]))
  }

  /// Waits for bytes; 0 at the end, nil if this end is closed.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    guard let reader else { return nil }
    while true {
      let count = Glibc.read(reader.descriptor.number, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw SystemError(call: "read") }
    }
  }

  func write(_ text: String) throws(SystemError) {
    try writer?.descriptor.write(Array(text.utf8))
  }
}
