import Blobs
import Crypto
import Glibc
import Platform

/// Copies of blobs on this machine, of which those that were not read for the longest time are removed above a limit.
///
/// It is a folder as that of a blob store: several processes of a machine share it, and what one removes another reads again.
final class BlobCache: Sendable {
  let store: FolderBlobStore
  private let limit: Int64
  /// The number of bytes as far as this process knows; nil: not counted yet.
  private let bytes = Locked<Int64?>(nil)

  init(folder: String, limit: Int64) throws(BlobError) {
    store = try FolderBlobStore(folder: folder)
    self.limit = limit
  }

  /// Opens a copy; nil if there is none.
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor? {
    do throws(BlobError) {
      let file = try store.open(hash)
      // The time of the last reading; access times of file systems are rarely kept.
      futimens(file.number, nil)
      return file
    } catch {
      guard case .missing = error else { throw error }
      return nil
    }
  }

  /// Removes a copy that is not the blob, such as one on a bad sector.
  func removeDamaged(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate? = nil) throws(BlobError) {
    guard let damage = try store.damage(of: hash, bytes: bytes, rate: rate), damage != .missing else { return }
    try store.remove(hash)
  }

  func insert(_ blob: SealedBlob, replacing: Bool = false) throws(BlobError) {
    try store.publish(blob, replacing: replacing)
    let known = bytes.withLock { bytes in
      bytes = bytes.map { $0 + blob.bytes }
      return bytes
    }
    if let known, known <= limit { return }
    try evict()
  }

  /// Removes copies until a tenth of the limit is free, and counts what is left.
  private func evict() throws(BlobError) {
    var files: [(hash: SHA256Digest, bytes: Int64, read: Int)] = []
    for shard in 0..<256 {
      for (hash, bytes) in try store.listing(ofShard: shard).blobs {
        var status = stat()
        guard stat(store.location(of: hash), &status) == 0 else { continue }
        files.append((hash, bytes, status.st_mtim.tv_sec))
      }
    }
    var total = files.map(\.bytes).reduce(0, +)
    if total > limit {
      for file in files.sorted(by: { $0.read < $1.read }) where total > limit - limit / 10 {
        try store.remove(file.hash)
        total -= file.bytes
      }
    }
    let left = total
    bytes.withLock { $0 = left }
  }
}
