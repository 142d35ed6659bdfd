import Blobs
import Crypto
import FoundationEssentials
import Integrity
import Model
import Platform
import Postgres
import Telemetry

extension Subcommand {
  static let backup = Subcommand(
    "backup",
    abstract: "Make a backup of the store in a folder, or bring the one in it up to date, while the service runs.",
    operands: ["DIR"],
    options: [
      Option("--quick", help: "compare blobs that the backup already has by their lengths, without reading them"),
      .parallelCopies,
    ] + Option.storeAccess + Option.listening,
    example: "take5 backup /var/backups/take5"
  ) { arguments in
    let folder = BackupFolder(arguments.operands[0])
    try checkPlace(of: folder.path, arguments)
    do {
      if let owner = StoreOwner.unlessRoot(of: arguments.value(Option.data.name) ?? "") {
        try owner.takeEmpty(folder.path)
        return try await owner.run()
      }
      let report = try await backUp(to: folder, arguments)
      let result = BackupResult(report, folder: folder.path)
      try Console.print(arguments.has(Option.json.name) ? try JSON.text(result) : result.text)
      return result.missing.isEmpty ? .success : .inconsistent
    } catch let refusal as BackupRefusal {
      throw CommandFailure(
        .io, "\(folder.path) cannot be used for the backup: \(refusal)",
        remedy: "name a new or empty folder, or one with an earlier backup of this store")
    } catch let error as UnreadableDump {
      throw CommandFailure(.io, "the dump of the database cannot be read: \(error)", remedy: "make the backup again")
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the blobs cannot be copied: \(error)", remedy: "run the command again: it copies the rest")
    } catch let error as SystemError {
      throw CommandFailure(
        .io, "the backup in \(folder.path) cannot be written: \(error)",
        remedy: "make the folder writable for user \(StoreOwner.current), or name another one")
    }
  }

  /// Refuses a folder inside the data folder: what takes that folder away takes the backup too.
  private static func checkPlace(of folder: String, _ arguments: Arguments) throws(CommandFailure) {
    let data = arguments.value(Option.data.name) ?? ""
    guard Folder.isFolder(data) else { return }
    let (place, outer): (String, String)
    do throws(SystemError) {
      (place, outer) = (try Folder.resolved(DoctorCheck.existing(folder)), try Folder.resolved(data))
    } catch { return }  // What follows says why the folder cannot be used.
    guard place == outer || place.hasPrefix(outer + "/") else { return }
    throw CommandFailure(
      .io,
      "\(folder) cannot be used for the backup: it is inside of the data folder \(data), and would be lost with it",
      remedy: "name a folder outside of it, best on another disk")
  }

  private static func backUp(to folder: BackupFolder, _ arguments: Arguments) async throws -> StoreBackup.Report {
    let parallel = try arguments.number(Option.parallelCopies.name) ?? 4
    let database = try await DatabaseAccess.open(arguments, connections: 2, log: Logger(lowest: .warning))
    let blobs = try await BlobOptions.open(arguments, database)
    let bar = ProgressBar("copying")
    let backup = StoreBackup(
      database: database, blobs: blobs, folder: folder, parallel: parallel, readsPresent: !arguments.has("--quick")
    ) { fraction in
      bar.show(fraction)
    }
    let outcome: Result<StoreBackup.Report, any Error>
    do { outcome = .success(try await backup.run()) } catch { outcome = .failure(error) }
    bar.clear()
    await database.close()
    return try outcome.get()
  }
}

/// The result that `take5 backup` prints.
private struct BackupResult: Encodable {
  let folder: String
  let createdAt: Date
  let counts: BackupManifest.Counts
  let dumpBytes: Int64
  /// The blobs that this run has copied, and the ones that it has removed.
  let copied: Int
  let copiedBytes: Int64
  let removed: Int
  /// The hashes of the blobs that the store does not have undamaged, and the backup neither.
  let missing: [String]

  init(_ report: StoreBackup.Report, folder: String) {
    self.folder = folder
    createdAt = report.manifest.createdAt
    counts = report.manifest.counts
    dumpBytes = report.manifest.dump.bytes
    copied = report.copy.copied
    copiedBytes = report.copy.bytes
    removed = report.copy.removed
    missing = report.copy.missing.map(\.hex)
  }

  var text: String {
    var lines = missing.map { "not readable: \($0)" }
    lines.append("copied \(Counted.text(copied, "blob")) with \(copiedBytes) bytes, removed \(removed)")
    let content = "\(counts.text), and a dump of \(dumpBytes) bytes"
    if missing.isEmpty {
      lines.append("\(folder) is a complete backup, and was checked: \(content)")
    } else {
      lines.append("\(folder) is a backup without \(Counted.text(missing.count, "blob")): \(content)")
      lines.append(
        "'take5 verify' lists the damage; 'take5 verify --repair' makes outputs again from their sources")
    }
    return lines.joined(separator: "\n")
  }
}
