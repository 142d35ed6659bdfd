package import Crypto
package import Platform

/// Keeps the bytes of media files under their SHA-256. All calls block.
///
/// How it is used, so that no crash and no collector leaves a row without a file: in ONE database transaction upsert
/// and thereby lock the blob's row, then `publish`, then commit. Who collects locks the row, sees that nothing refers
/// to it, calls `remove`, deletes the row, commits. A crash in between leaves a file without a row, never the reverse.
package protocol BlobStore: Sendable {
  /// Begins a blob; what is not published leaves nothing behind.
  func stage() throws(BlobError) -> StagedBlob

  /// Makes a sealed blob readable under its hash, durably; one that is there already is left as it is.
  func publish(_ blob: SealedBlob) throws(BlobError)

  /// Opens a published blob for reading; `.missing` if there is none.
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor

  /// Removes a blob; true if there was one. Who has it open reads on.
  @discardableResult
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool

  /// How many bytes more it can take; nil: nobody knows a limit.
  func freeBytes() throws(BlobError) -> Int64?

  /// Whether there is a blob of that hash.
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool
}
