package import Crypto
import Glibc
package import Model
import Platform

/// The store-id file: a file in the folder of a store with its id. A folder without it, such as a mount point
/// without its file system, is not mistaken for the store.
extension FolderBlobStore {
  static let idFileName = "store-id"

  /// The id of the store in a folder; nil if the folder or its store-id file does not exist.
  package static func id(in folder: String) throws(BlobError) -> PublicID? {
    CriticalSection.mayWait("the id of the blobs")
    return try storedID(in: folder)
  }

  static func storedID(in folder: String) throws(BlobError) -> PublicID? {
    do throws(SystemError) { return try readID(folder) } catch { throw .system(error) }
  }

  /// Whether a folder contains the file of a blob, with or without a store-id file.
  package static func contains(_ hash: SHA256Digest, in folder: String) -> Bool {
    CriticalSection.mayWait("the search for the blob \(hash)")
    return access("\(folder)/\(hash.hex.prefix(2))/\(hash.hex)", F_OK) == 0
  }

  /// Creates the store-id file of a folder unless it exists; returns the id in it.
  static func writeID(of folder: String, _ id: PublicID) throws(SystemError) -> PublicID {
    if let found = try readID(folder) { return found }
    // Atomic, even with crashes and concurrent writers: the file is linked once it is on the disk.
    let path = "\(folder)/\(idFileName)"
    while true {
      let draft = StagingName(path: newStagingPath(in: folder))
      let file = try Descriptor(writing: draft.path, replacing: false, mode: 0o644)
      // Another process that opens the store removes staged files that are not locked.
      _ = try file.lock(waiting: true)
      guard try file.linkCount() > 0 else { continue }
      try file.write(Array("\(id)\n".utf8))
      try file.synchronize()
      guard link(draft.path, path) == 0 || errno == EEXIST else { throw SystemError(call: "link", subject: path) }
      break
    }
    guard let stored = try readID(folder) else { throw SystemError(call: "open", code: EBADMSG, subject: path) }
    return stored
  }

  private static func readID(_ folder: String) throws(SystemError) -> PublicID? {
    let path = "\(folder)/\(idFileName)"
    do throws(SystemError) {
      let bytes = try Descriptor(readingRegular: path).bytes(count: 64, at: 0)
      let text = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
      guard let id = PublicID(text) else { throw SystemError(call: "read", code: EBADMSG, subject: path) }
      return id
    } catch {
      switch error.code {
      case ENOENT, ENOTDIR: return nil
      // Damage of the store, and not of the blob that is looked for.
      case EMEDIUMTYPE, ELOOP: throw SystemError(call: "read", code: EBADMSG, subject: path)
      default: throw error
      }
    }
  }
}
