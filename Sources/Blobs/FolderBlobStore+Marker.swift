package import Crypto
import Glibc
package import Model
import Platform

/// A store is known by a file in its folder that holds its id: what lies elsewhere, as under a mount point that nothing
/// is mounted on, is never taken for it.
extension FolderBlobStore {
  static let markerName = "store-id"

  /// The id of the store in a folder; nil: there is no marker, or no folder.
  package static func id(in folder: String) throws(BlobError) -> PublicID? {
    do throws(SystemError) { return try readMarker(folder) } catch { throw .system(error) }
  }

  /// Whether a folder has the file of a blob, be it a store or not.
  package static func holds(_ hash: SHA256Digest, in folder: String) -> Bool {
    access("\(folder)/\(hash.hex.prefix(2))/\(hash.hex)", F_OK) == 0
  }

  /// `.away` unless the folder is this store's at this moment.
  func checkMarker() throws(BlobError) {
    guard let found = try Self.id(in: folder) else {
      throw .away("there is no \(Self.markerName) in \(folder)")
    }
    guard found == id else { throw .away("\(folder) is the store \(found), not \(id)") }
  }

  /// Gives a folder its marker, unless it has one; what it says now.
  static func mark(_ folder: String, _ id: PublicID) throws(SystemError) -> PublicID {
    if let found = try readMarker(folder) { return found }
    // Whole or not at all, whoever dies and whoever comes at the same time: linked once it is on the disk.
    let path = "\(folder)/\(markerName)"
    while true {
      let draft = StagingName(
        path: "\(folder)/.staging/\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))")
      let file = try Descriptor(writing: draft.path, replacing: false, mode: 0o644)
      // Others who open the store sweep away what nobody holds.
      _ = try file.lock(waiting: true)
      guard try file.linkCount() > 0 else { continue }
      try file.write(Array("\(id)\n".utf8))
      try file.synchronize()
      guard link(draft.path, path) == 0 || errno == EEXIST else { throw SystemError(call: "link", subject: path) }
      break
    }
    guard let kept = try readMarker(folder) else { throw SystemError(call: "open", code: EBADMSG, subject: path) }
    return kept
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
