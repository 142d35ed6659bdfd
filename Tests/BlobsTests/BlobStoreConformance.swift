import Blobs
import Crypto
import Glibc
import Platform
import Testing

/// What every blob store must do, whatever it is made of.
struct BlobStoreConformance {
  let store: any BlobStore

  func check() throws {
    try keepsWhatWasPublished()
    try hashesWhatOthersWrote()
    try keepsNothingUnpublished()
    try takesTheSameTwice()
    try removes()
    try publishesAgainAfterRemoval()
    try keepsOpenBlobsReadable()
  }

  private func seal(_ bytes: [UInt8]) throws -> SealedBlob {
    var staged = try store.stage()
    // In two parts, so that hashing on the way is not hashing at once.
    let half = bytes.count / 2
    try bytes[..<half].withUnsafeBytes { try staged.append($0) }
    try bytes[half...].withUnsafeBytes { try staged.append($0) }
    return try staged.seal()
  }

  private func content(_ hash: SHA256Digest) throws -> [UInt8] { try store.open(hash).contents() }

  private func keepsWhatWasPublished() throws {
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

  private func hashesWhatOthersWrote() throws {
    let staged = try store.stage()
    // As a muxer does: the end first.
    #expect(pwrite(staged.descriptor, "end", 3, 10) == 3)
    #expect(pwrite(staged.descriptor, "0123456789", 10, 0) == 10)
    let blob = try staged.seal(writtenElsewhere: true)
    #expect(blob.hash == SHA256.digest(of: Array("0123456789end".utf8)))
    #expect(blob.bytes == 13)
  }

  private func keepsNothingUnpublished() throws {
    let hash: SHA256Digest
    do { hash = try seal(Array("never published".utf8)).hash }
    #expect(try !store.contains(hash))
    #expect(throws: BlobError.missing(hash)) { _ = try store.open(hash).number }
  }

  private func takesTheSameTwice() throws {
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

  // A transaction that published may fail, and be tried again after the collector came by.
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
