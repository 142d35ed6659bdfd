import Blobs
import Crypto
import Platform

/// Reads blobs and hashes them.
struct BlobReader: Sendable {
  let blobs: any InspectableBlobStore

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
      switch error.damage {
      case .missing: return .absent
      case .truncated, .corrupt: return .wrong("what cannot be read: \(error)")
      case nil: throw error
      }
    }
  }
}
