package import Blobs
import Crypto
import Glibc
import Platform
import Testing

/// The checks that every blob store must pass.
package struct BlobStoreConformance {
  private let store: any BlobStore

  package init(store: any BlobStore) { self.store = store }

  package func check() throws {
    try publishes()
    try hashesForeignWrites()
    try discardsUnpublished()
    try publishesTwice()
    try removes()
    try publishesAgainAfterRemoval()
    try keepsOpenBlobsReadable()
  }

  private func seal(_ bytes: [UInt8]) throws -> SealedBlob {
    var staged = try store.stage()
    // In two parts, to check incremental hashing.
    let half = bytes.count / 2
    try bytes[..<half].withUnsafeBytes { try staged.append($0) }
    try bytes[half...].withUnsafeBytes { try staged.append($0) }
    return try staged.seal()
  }

  private func content(_ hash: SHA256Digest) throws -> [UInt8] { try store.open(hash).contents() }

  private func publishes() throws {
    for count in [0, 1, 700_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let blob = try seal(bytes)
      #expect(blob.hash == SHA256.digest(of: bytes))
      #expect(blob.bytes == Int64(count))
      #expect(try blob.content() == bytes)
      try store.publish(blob)
      #expect(try store.contains(blob.hash))
      #expect(try content(blob.hash) == bytes)
    }
  }

  private func hashesForeignWrites() throws {
    let staged = try store.stage()
    // Out of order, as a muxer writes.
    #expect(pwrite(staged.file.descriptor.number, "end", 3, 10) == 3)
    #expect(pwrite(staged.file.descriptor.number, "0123456789", 10, 0) == 10)
    let blob = try staged.seal(writtenElsewhere: true)
    #expect(blob.hash == SHA256.digest(of: Array("0123456789end".utf8)))
    #expect(blob.bytes == 13)
  }

  private func discardsUnpublished() throws {
    let hash: SHA256Digest
    do { hash = try seal(Array("never published".utf8)).hash }
    #expect(try !store.contains(hash))
    #expect(throws: BlobError.missing(hash)) { _ = try store.open(hash).number }
  }

  private func publishesTwice() throws {
    let bytes = Array("the same".utf8)
    let one = try seal(bytes)
    let other = try seal(bytes)
    try store.publish(one)
    try store.publish(other)
    try store.publish(one)
    #expect(try content(one.hash) == bytes)
  }

  private func removes() throws {
    let blob = try seal(Array("to be removed".utf8))
    try store.publish(blob)
    #expect(try store.remove(blob.hash))
    #expect(try !store.contains(blob.hash))
    #expect(try !store.remove(blob.hash))
  }

  // A transaction that published may fail, and be repeated after the collector ran.
  private func publishesAgainAfterRemoval() throws {
    let bytes = Array("published, collected, published".utf8)
    let blob = try seal(bytes)
    try store.publish(blob)
    try store.remove(blob.hash)
    try store.publish(blob)
    #expect(try content(blob.hash) == bytes)
  }

  private func keepsOpenBlobsReadable() throws {
    let bytes = Array("read while removed".utf8)
    let blob = try seal(bytes)
    try store.publish(blob)
    let open = try store.open(blob.hash)
    try store.remove(blob.hash)
    #expect(try open.contents() == bytes)
  }
}
