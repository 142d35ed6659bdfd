package import FoundationEssentials
import Glibc
package import Model
package import Platform
package import Store

/// A folder with a backup: the dump of the database, the blobs that it names, and a manifest, which makes it a backup.
///
/// An interruption at any point leaves the former backup, or none: each dump has a name of its own, and the manifest,
/// which names it, is replaced in one step.
package struct BackupFolder: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// The folder of the blobs.
  package var blobs: String { "\(path)/blobs" }

  private var manifestFile: String { "\(path)/backup.json" }
  /// Shows that the folder belongs to a first backup which has not ended, and names the store.
  private var markerFile: String { "\(path)/\(Self.markerName)" }
  private static let markerName = "backup.unfinished"

  /// The manifest; nil: the folder is no backup.
  package func manifest() throws -> BackupManifest? {
    guard let bytes = try read(manifestFile) else { return nil }
    do {
      let manifest = try JSON.decode(BackupManifest.self, from: bytes)
      guard manifest.format == BackupManifest.format else { throw BackupRefusal.format(manifest.format) }
      return manifest
    } catch let error as DecodingError {
      throw BackupRefusal.unreadable("\(manifestFile): \(JSON.reason(error))")
    }
  }

  /// Whether a first backup into this folder was interrupted, or is being made.
  package var isUnfinished: Bool { access(markerFile, F_OK) == 0 }

  /// Prepares the folder for a backup of a store. It is new, empty, or has an earlier backup of this store.
  ///
  /// - Returns: the lock of the folder, which is held until the last reference to it is gone.
  /// - Throws: `BackupRefusal`, `SystemError`.
  package func begin(for store: BlobStoreIDs) throws -> OpenFile {
    try Folder.make(path, mode: 0o700)
    let folder = try Descriptor(reading: path)
    if case .held = try folder.lock(waiting: false) { throw BackupRefusal.inUse }
    let lock = OpenFile(folder)
    let known = [store.current, store.next, store.previous]
    if let manifest = try manifest() {
      guard known.contains(manifest.store) else { throw BackupRefusal.otherStore(manifest.store) }
      try removeDumps(except: manifest.dump.file)
    } else if let bytes = try read(markerFile) {
      let id = PublicID(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
      guard known.contains(id) else { throw BackupRefusal.notEmpty }
      try removeDumps(except: nil)
    } else {
      // A file system that is mounted for backups has this folder.
      let ignored = ["lost+found", "\(Self.markerName).tmp"]
      guard try Folder.names(in: path).allSatisfy(ignored.contains) else { throw BackupRefusal.notEmpty }
      try write(Array("\(store.current)\n".utf8), to: markerFile)
    }
    return lock
  }

  /// Creates the file of a dump, which only its owner may read; returns its name.
  package func createDump(at time: Date) throws(SystemError) -> String {
    let name = Self.dumpPrefix + JSON.text(of: time).filter { !"-:.".contains($0) } + Self.dumpSuffix
    _ = try Descriptor(writing: "\(path)/\(name)", replacing: false, mode: 0o600)
    return name
  }

  /// Makes the folder the backup that a manifest describes, and removes the dump of the former one.
  package func finish(_ manifest: BackupManifest) throws {
    try write(try JSON.encode(manifest, pretty: true) + [UInt8(ascii: "\n")], to: manifestFile)
    guard unlink(markerFile) == 0 || errno == ENOENT else { throw SystemError(call: "unlink", subject: markerFile) }
    try removeDumps(except: manifest.dump.file)
    try Folder.synchronize(path)
  }

  private static let dumpPrefix = "take5-"
  private static let dumpSuffix = ".dump"

  private func removeDumps(except name: String?) throws(SystemError) {
    for file in try Folder.names(in: path) where file.hasPrefix(Self.dumpPrefix) && file.hasSuffix(Self.dumpSuffix) {
      if file != name { try Folder.remove("\(path)/\(file)") }
    }
  }

  private func read(_ file: String) throws(SystemError) -> [UInt8]? {
    do throws(SystemError) {
      return try Descriptor(reading: file).contents()
    } catch {
      guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
      return nil
    }
  }

  /// Writes a file in one step: a crash leaves the former one, or none.
  private func write(_ bytes: [UInt8], to file: String) throws(SystemError) {
    let unfinished = "\(file).tmp"
    let written = try Descriptor(writing: unfinished, replacing: true, mode: 0o600)
    try written.write(bytes)
    try written.synchronize()
    guard rename(unfinished, file) == 0 else { throw SystemError(call: "rename", subject: file) }
    try Folder.synchronize(path)
  }
}

/// The reason why a folder is not used for a backup.
package enum BackupRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// It has files, and is no backup.
  case notEmpty
  /// It has a backup of another store.
  case otherStore(PublicID)
  /// Another backup is being made in it.
  case inUse
  /// It has a backup in a format of another version of take5.
  case format(Int)
  /// Its manifest cannot be read.
  case unreadable(String)

  package var description: String {
    switch self {
    case .notEmpty: "it has files, and is no backup"
    case .otherStore(let id): "it is the backup of another store, \(id)"
    case .inUse: "another process makes a backup in it"
    case .format(let format): "another version of take5 made its format, \(format)"
    case .unreadable(let reason): "its manifest cannot be read: \(reason)"
    }
  }
}
