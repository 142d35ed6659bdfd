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

  /// Makes a sealed blob readable under its hash, durably.
  ///
  /// - Parameter replacing: whether it takes the place of one that is there already, which is known to be damaged; otherwise
  ///   that one is left as it is.
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError)

  /// Opens a published blob for reading; `.missing` if there is none, `.away` if nobody can know.
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor

  /// Removes a blob; true if there was one. Who has it open reads on.
  @discardableResult
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool

  /// How many bytes more it can take; nil: nobody knows a limit.
  func freeBytes() throws(BlobError) -> Int64?

  /// Whether there is a blob of that hash.
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool
}

extension BlobStore {
  /// Makes a sealed blob readable under its hash, durably; one that is there already is left as it is.
  package func publish(_ blob: SealedBlob) throws(BlobError) { try publish(blob, replacing: false) }

  /// Opens a published blob that has so many bytes; `.damaged` if it has others.
  package func open(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    let file = try open(hash)
    let found: Int64
    do throws(SystemError) { found = try file.size() } catch { throw .system(error) }
    guard found == bytes else { throw .damaged(hash, found < bytes ? .truncated : .corrupt) }
    return file
  }

  /// Reads a blob to its end, and tells how it is damaged; nil: it is whole.
  ///
  /// - Parameter pace: how fast; nil: as fast as it can be read.
  package func damage(
    of hash: SHA256Digest, bytes: Int64, pace: ReadingPace? = nil
  ) throws(BlobError) -> BlobDamage? {
    do throws(BlobError) {
      let file = try open(hash, bytes: bytes)
      do throws(SystemError) {
        let digest = if let pace { try pace.digest(of: file) } else { try SHA256.digest(of: file) }
        return digest == hash ? nil : .corrupt
      } catch {
        throw BlobError.system(error)
      }
    } catch {
      guard let damage = error.damage else { throw error }
      return damage
    }
  }

  /// Whether blobs can be read and written now: it is there, and has room for a small file.
  package func check() throws(BlobError) {
    // One that is not published leaves nothing behind; an empty one would need no room.
    var staged = try stage()
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { block.deallocate() }
    block.initializeMemory(as: UInt8.self, repeating: 0)
    try staged.append(UnsafeRawBufferPointer(block))
  }
}
