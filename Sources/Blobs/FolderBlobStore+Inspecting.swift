package import Crypto
import Glibc
import Platform

extension FolderBlobStore: InspectableBlobStore {
  /// One folder for each first byte of a hash, and the files outside of them.
  package var parts: Int { 257 }

  package func listing(ofPart part: Int) throws(BlobError) -> BlobListing {
    try checkMarker()
    do throws(SystemError) {
      return part < 256 ? try blobs(under: Self.prefix(UInt8(part))) : try foreignFiles()
    } catch {
      throw .system(error)
    }
  }

  package func stagedOrphans() throws(BlobError) -> [StoredFile] {
    do throws(SystemError) { return try stagedOrphans(removing: false) } catch { throw .system(error) }
  }

  @discardableResult
  package func removeStagedOrphans() throws(BlobError) -> [StoredFile] {
    do throws(SystemError) { return try stagedOrphans(removing: true) } catch { throw .system(error) }
  }

  package func location(of hash: SHA256Digest) -> String { path(of: hash) }

  private func blobs(under prefix: String) throws(SystemError) -> BlobListing {
    var listing = BlobListing()
    for name in try Folder.names(in: "\(folder)/\(prefix)") {
      guard let status = Self.status("\(folder)/\(prefix)/\(name)") else { continue }
      let bytes = Int64(status.st_size)
      if status.st_mode & S_IFMT == S_IFREG, name.hasPrefix(prefix), let hash = SHA256Digest(hex: name),
        hash.hex == name
      {
        listing.blobs[hash] = bytes
      } else {
        listing.foreign.append(StoredFile(path: "\(prefix)/\(name)", bytes: bytes))
      }
    }
    return listing
  }

  private func foreignFiles() throws(SystemError) -> BlobListing {
    let own = Set((0..<256).map { Self.prefix(UInt8($0)) } + [".staging", Self.markerName])
    var listing = BlobListing()
    for name in try Folder.names(in: folder) where !own.contains(name) {
      guard let status = Self.status("\(folder)/\(name)") else { continue }
      listing.foreign.append(StoredFile(path: name, bytes: Int64(status.st_size)))
    }
    return listing
  }

  /// The `lstat` of a path; nil if it does not exist.
  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }
}
