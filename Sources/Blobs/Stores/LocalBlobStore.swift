package import Crypto
package import Platform

/// A blob store whose blobs are files on this machine. It reads a file to verify it, and asks no other machine.
package protocol LocalBlobStore: BlobStore {}

// These are no defaults of `BlobStore`: a store around another one would not pass on what it has not declared.
extension LocalBlobStore {
  package var isRemote: Bool { false }

  package var urlOrigin: String? { nil }

  package func url(of hash: SHA256Digest, fields: BlobFields, seconds: Int) throws(BlobError) -> String? { nil }

  package func open(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try require(bytes, of: open(hash), hash)
  }

  package func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? {
    try open(hash, bytes: bytes)
  }

  package func openVerified(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try openVerified(hash, bytes: bytes, rate: nil)
  }

  private func openVerified(
    _ hash: SHA256Digest, bytes: Int64, rate: ReadRate?
  ) throws(BlobError) -> Descriptor {
    let file = try open(hash, bytes: bytes)
    let digest: SHA256Digest
    do throws(SystemError) {
      digest = if let rate { try rate.digest(of: file) } else { try SHA256.digest(of: file) }
    } catch {
      throw .system(error)
    }
    guard digest == hash else { throw .damaged(hash, .corrupt) }
    return file
  }

  package func damage(of hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    do throws(BlobError) {
      _ = try openVerified(hash, bytes: bytes, rate: rate)
      return nil
    } catch {
      guard let damage = error.damage else { throw error }
      return damage
    }
  }

  package func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    try damage(of: hash, bytes: bytes, rate: rate)
  }

  package func check() throws(BlobError) {
    // An empty blob would need no space.
    var staged = try stage()
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { block.deallocate() }
    block.initializeMemory(as: UInt8.self, repeating: 0)
    try staged.append(UnsafeRawBufferPointer(block))
  }

  package func checkRemote() throws(BlobError) {}
}
