package import Crypto
import Platform

/// A blob whose bytes are final and known by hash, not yet published; dropped, it leaves nothing behind.
///
/// A class, because a submission holds several and they are one open file each.
package final class SealedBlob: Sendable {
  package let hash: SHA256Digest
  /// The length.
  package let bytes: Int64
  let file: Descriptor
  let name: StagingName?
  private let isOnDisk = Locked(false)

  init(hash: SHA256Digest, bytes: Int64, file: consuming Descriptor, name: StagingName?) {
    self.hash = hash
    self.bytes = bytes
    self.file = file
    self.name = name
  }

  /// The open file, for reading.
  package var descriptor: Int32 { file.number }

  /// Waits until the bytes lie on the disk. `publish` does it too: call it before a transaction is opened, so that no
  /// lock is held meanwhile.
  package func synchronize() throws(BlobError) {
    do throws(SystemError) {
      if isOnDisk.withLock({ $0 }) { return }
      try Failpoint.synchronize.around { () throws(SystemError) in try file.synchronize() }
      isOnDisk.withLock { $0 = true }
    } catch {
      throw .system(error)
    }
  }

  /// The whole content, for a blob small enough to lie in memory.
  package func content() throws(BlobError) -> [UInt8] {
    do throws(SystemError) { return try file.contents() } catch { throw .system(error) }
  }
}
