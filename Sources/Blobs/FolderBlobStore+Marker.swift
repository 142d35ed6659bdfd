package import Crypto
import Glibc
package import Model
import Platform

/// The marker of a store: a file in its folder with the id of the store. A folder without it, such as a mount point
/// without its file system, is not mistaken for the store.
extension FolderBlobStore {
  static let markerName = "store-id"

  /// The id of the store in a folder; nil if the folder or the marker does not exist.
  package static func id(in folder: String) throws(BlobError) -> PublicID? {
    do throws(SystemError) { return try readMarker(folder) } catch { throw .system(error) }
  }

  /// Whether a folder contains the file of a blob, with or without a marker.
  package static func holds(_ hash: SHA256Digest, in folder: String) -> Bool {
    access("\(folder)/\(hash.hex.prefix(2))/\(hash.hex)", F_OK) == 0
  }

  /// Throws `.unavailable` unless the folder is that of this store now.
  func checkMarker() throws(BlobError) {
    guard let found = try Self.id(in: folder) else {
      throw .unavailable("no \(Self.markerName) in \(folder)")
    }
    guard found == id else { throw .unavailable("\(folder) is the store \(found), not \(id)") }
  }

  /// Creates the marker of a folder unless it exists; returns the id in it.
  static func mark(_ folder: String, _ id: PublicID) throws(SystemError) -> PublicID {
    if let found = try readMarker(folder) { return found }
    // Atomic, even with crashes and concurrent writers: the file is linked once it is on the disk.
    let path = "\(folder)/\(markerName)"
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
    guard let stored = try readMarker(folder) else { throw SystemError(call: "open", code: EBADMSG, subject: path) }
    return stored
  }

  private static func readMarker(_ folder: String) throws(SystemError) -> PublicID? {
    let path = "\(folder)/\(markerName)"
    do throws(SystemError) {
      let bytes = try Descriptor(reading: path).bytes(count: 64, at: 0)
      let text = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
      guard let id = PublicID(text) else { throw SystemError(call: "read", code: EBADMSG, subject: path) }
      return id
    } catch {
      guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
      return nil
    }
  }
}
