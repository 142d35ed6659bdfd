import Crypto
import Glibc
import Platform

/// Copies of blobs on this machine. Above a limit the cache removes the copies that were not read for the longest time.
///
/// It is a folder like a blob store's: several processes of a machine share it, and what one removes another reads again. A
/// copy is not believed: it is compared with its hash when it is opened, unless that was done lately. One that differs, and a
/// folder that has gone, cost further readings of the bucket and nothing else.
final class BlobCache: Sendable {
  /// A copy as it was compared with its hash.
  private struct Comparison: Hashable {
    let hash: SHA256Digest
    let bytes: Int64
  }

  /// The time for which a comparison is good, at least; twice as long at most.
  static let comparisonInterval = Duration.seconds(3600)

  let store: FolderBlobStore
  private let limit: Int64
  private let compared: Locked<RecentSet<Comparison>>
  /// The number of bytes as far as this process knows; nil: not counted yet.
  private let bytes = Locked<Int64?>(nil)

  init(folder: String, limit: Int64, comparisonInterval: Duration = BlobCache.comparisonInterval) throws(BlobError) {
    store = try FolderBlobStore(cache: folder)
    self.limit = limit
    compared = Locked(RecentSet(interval: comparisonInterval, now: .now))
  }

  /// Opens a copy that has been compared with its hash; nil if there is none.
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor? {
    do throws(BlobError) {
      let file = try store.open(hash)
      guard try isRight(file, hash, comparing: false) else {
        drop(hash)
        return nil
      }
      // The time of the last reading; access times of file systems are rarely kept.
      futimens(file.number, nil)
      return file
    } catch {
      guard let damage = error.damage else { throw error }
      if damage != .missing { drop(hash) }
      return nil
    }
  }

  /// Compares a copy with its hash now, and drops one that differs, such as one on a bad sector.
  func compare(_ hash: SHA256Digest) throws(BlobError) {
    do throws(BlobError) {
      if try !isRight(store.open(hash), hash, comparing: true) { drop(hash) }
    } catch {
      guard let damage = error.damage else { throw error }
      if damage != .missing { drop(hash) }
    }
  }

  private func isRight(
    _ file: borrowing Descriptor, _ hash: SHA256Digest, comparing: Bool
  ) throws(BlobError) -> Bool {
    do throws(SystemError) {
      let comparison = Comparison(hash: hash, bytes: try file.size())
      if !comparing, compared.withLock({ $0.contains(comparison, now: .now) }) { return true }
      guard try SHA256.digest(of: file) == hash else { return false }
      compared.withLock { _ = $0.note(comparison, now: .now) }
      return true
    } catch {
      throw .system(error)
    }
  }

  /// Removes a copy; one that cannot be removed is read from the bucket each time.
  private func drop(_ hash: SHA256Digest) { do { try store.remove(hash) } catch {} }

  /// Keeps a copy of bytes that have just been hashed.
  func insert(_ blob: SealedBlob, replacing: Bool = false) throws(BlobError) {
    do throws(BlobError) {
      try store.publish(blob, replacing: replacing)
    } catch .system(let error) where error.code == ENOENT {
      try store.restore()
      try store.publish(blob, replacing: replacing)
    }
    compared.withLock { _ = $0.note(Comparison(hash: blob.hash, bytes: blob.bytes), now: .now) }
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
    var total = files.map(\.bytes).reduce(0, &+)
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
