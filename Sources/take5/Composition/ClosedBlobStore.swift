import Blobs
import Crypto
import Platform

/// The blobs of a command that needs none: it opens no folder, and every call says so.
struct ClosedBlobStore: BlobStore {
  private static let away = BlobError.away("this command opens no blobs")

  func stage() throws(BlobError) -> StagedBlob { throw Self.away }
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { throw Self.away }
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { throw Self.away }
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { throw Self.away }
  func freeBytes() throws(BlobError) -> Int64? { throw Self.away }
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { throw Self.away }
}
