package import Crypto
import Glibc
package import Platform

extension FolderBlobStore: InspectableBlobStore {
  /// One folder for each first byte of a hash, and the files outside of them.
  package var shards: Int { 257 }

  package func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try open(hash) }

  package func listing(ofShard shard: Int) throws(BlobError) -> BlobListing {
    CriticalSection.mayWait("a list of blobs")
    try checkID()
    do throws(SystemError) {
      return shard < 256 ? try blobs(under: Self.prefix(UInt8(shard))) : try foreignFiles()
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

  /// Writes a file and links it, as a publication does, and removes it again; throws if the folder of a store does not
  /// permit that.
  ///
  /// - Returns: whether the file system has unnamed files (open(2), O_TMPFILE).
  package static func checkWriting(in folder: String) throws(BlobError) -> Bool {
    try checkWriting(in: folder, allowsUnnamedFiles: true)
  }

  static func checkWriting(in folder: String, allowsUnnamedFiles: Bool) throws(BlobError) -> Bool {
    let path = newStagingPath(in: folder)
    do throws(SystemError) {
      defer { _ = unlink(path) }
      guard allowsUnnamedFiles && probeUnnamedFiles(in: folder) else {
        let file = try Descriptor(writing: path, replacing: false, mode: 0o640)
        // Another process removes staged files that are not locked.
        _ = try file.lock(waiting: true)
        try file.write([0])
        let second = "\(path)-linked"
        guard Glibc.link(path, second) == 0 else { throw SystemError(call: "link", subject: second) }
        _ = unlink(second)
        return false
      }
      let file = try Descriptor(unnamedIn: folder)
      try file.write([0])
      try file.link(at: path)
      return true
    } catch {
      throw .system(error)
    }
  }

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
    let own = Set((0..<256).map { Self.prefix(UInt8($0)) } + [".staging", UploadFolder.name, Self.idFileName])
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
