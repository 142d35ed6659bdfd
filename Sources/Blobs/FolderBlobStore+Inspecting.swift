package import Crypto
import Glibc
import Platform

extension FolderBlobStore: InspectableBlobStore {
  /// The folders of the first byte, and what lies beside them.
  package var parts: Int { 257 }

  package func holdings(inPart part: Int) throws(BlobError) -> BlobHoldings {
    try checkMarker()
    do throws(SystemError) {
      return part < 256 ? try blobs(under: Self.prefix(UInt8(part))) : try strangers()
    } catch {
      throw .system(error)
    }
  }

  package func leftovers() throws(BlobError) -> [StoredFile] {
    do throws(SystemError) { return try leftovers(removing: false) } catch { throw .system(error) }
  }

  @discardableResult
  package func removeLeftovers() throws(BlobError) -> [StoredFile] {
    do throws(SystemError) { return try leftovers(removing: true) } catch { throw .system(error) }
  }

  package func location(of hash: SHA256Digest) -> String { path(of: hash) }

  private func blobs(under prefix: String) throws(SystemError) -> BlobHoldings {
    var holdings = BlobHoldings()
    for name in try Folder.names(in: "\(folder)/\(prefix)") {
      guard let status = Self.status("\(folder)/\(prefix)/\(name)") else { continue }
      let bytes = Int64(status.st_size)
      if status.st_mode & S_IFMT == S_IFREG, name.hasPrefix(prefix), let hash = SHA256Digest(hex: name),
        hash.hex == name
      {
        holdings.blobs[hash] = bytes
      } else {
        holdings.foreign.append(StoredFile(path: "\(prefix)/\(name)", bytes: bytes))
      }
    }
    return holdings
  }

  private func strangers() throws(SystemError) -> BlobHoldings {
    let own = Set((0..<256).map { Self.prefix(UInt8($0)) } + [".staging", Self.markerName])
    var holdings = BlobHoldings()
    for name in try Folder.names(in: folder) where !own.contains(name) {
      guard let status = Self.status("\(folder)/\(name)") else { continue }
      holdings.foreign.append(StoredFile(path: name, bytes: Int64(status.st_size)))
    }
    return holdings
  }

  /// What a path leads to, no link followed; nil if it is gone by now.
  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }
}
