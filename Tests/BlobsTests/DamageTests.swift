import Crypto
import Glibc
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("Damaged blobs")
struct DamageTests {
  private let folder: TemporaryFolder
  private let store: FolderBlobStore
  private static let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  init() throws {
    folder = try TemporaryFolder()
    store = try FolderBlobStore(folder: "\(folder.path)/blobs")
  }

  private func seal() throws -> SealedBlob {
    var staged = try store.stage()
    try Self.content.withUnsafeBytes { try staged.append($0) }
    return try staged.seal()
  }

  private func inflict(_ damage: BlobDamage, on hash: SHA256Digest) throws {
    let path = store.location(of: hash)
    switch damage {
    case .missing: #expect(unlink(path) == 0)
    case .truncated: #expect(truncate(path, 699_999) == 0)
    case .corrupt:
      let file = open(path, O_WRONLY)
      try #require(file >= 0)
      try Descriptor(owning: file).write([0xA5], at: 3)
    }
  }

  @Test("reading to the end detects each kind of damage, with and without a rate limit", arguments: [true, false])
  func detected(isLimited: Bool) throws {
    let rate = isLimited ? ReadRate(bytesPerSecond: 1 << 30, until: CancellationFlag()) : nil
    let blob = try seal()
    try store.publish(blob)
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes, rate: rate) == nil)
    for damage in [BlobDamage.corrupt, .truncated, .missing] {
      try inflict(damage, on: blob.hash)
      #expect(try store.damage(of: blob.hash, bytes: blob.bytes, rate: rate) == damage)
    }
    try store.publish(seal())
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes + 1, rate: rate) == .truncated)
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes - 1, rate: rate) == .corrupt)
  }

  @Test("opening a file of another length is an error")
  func length() throws {
    let blob = try seal()
    try store.publish(blob)
    #expect(try store.open(blob.hash, bytes: blob.bytes).size() == blob.bytes)
    #expect(throws: BlobError.damaged(blob.hash, .corrupt)) { _ = try store.open(blob.hash, bytes: 3).number }
    try inflict(.truncated, on: blob.hash)
    #expect(throws: BlobError.damaged(blob.hash, .truncated)) {
      _ = try store.open(blob.hash, bytes: blob.bytes).number
    }
    try inflict(.missing, on: blob.hash)
    #expect(throws: BlobError.missing(blob.hash)) { _ = try store.open(blob.hash, bytes: blob.bytes).number }
  }

  @Test("a corrupt file of the right length is replaced only on request, and open readers are not affected")
  func replaced() throws {
    let blob = try seal()
    try store.publish(blob)
    try inflict(.corrupt, on: blob.hash)
    let reading = try store.open(blob.hash)
    try store.publish(seal())
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes) == .corrupt)
    try store.publish(seal(), replacing: true)
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes) == nil)
    #expect(try SHA256.digest(of: reading) != blob.hash)
    #expect(try store.stagedOrphans().isEmpty)
    // Also by a blob that was published before, whose file cannot be linked again.
    try inflict(.corrupt, on: blob.hash)
    try store.publish(blob, replacing: true)
  }

  @Test("reading with a rate limit ends when it is cancelled")
  func stopped() throws {
    let stop = CancellationFlag()
    stop.cancel()
    let blob = try seal()
    try store.publish(blob)
    #expect(throws: BlobError.system(SystemError(call: "pread", code: ECANCELED))) {
      try store.damage(of: blob.hash, bytes: blob.bytes, rate: ReadRate(bytesPerSecond: 1, until: stop))
    }
  }
}
