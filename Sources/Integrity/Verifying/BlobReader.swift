import Blobs
import Crypto
import Glibc
import Platform

/// Reads blobs and hashes them.
struct BlobReader: Sendable {
  let blobs: any InspectableBlobStore

  /// Errors by which a file system says that it is the file, not the way to it.
  private static let damages: Set<Int32> = [EIO, EISDIR, ELOOP, EILSEQ, EUCLEAN]

  /// What lies in the blob store under a hash.
  func content(of hash: SHA256Digest) throws(BlobError) -> BlobContent {
    do throws(BlobError) {
      let file = try blobs.open(hash)
      do throws(SystemError) {
        let digest = try SHA256.digest(of: file)
        let bytes = try file.size()
        return digest == hash ? .whole(bytes: bytes) : .wrong("\(bytes) bytes with the hash \(digest)")
      } catch {
        throw BlobError.system(error)
      }
    } catch {
      switch error {
      case .missing: return .absent
      case .system(let cause) where Self.damages.contains(cause.code): return .wrong("what cannot be read: \(cause)")
      case .system: throw error
      }
    }
  }
}
