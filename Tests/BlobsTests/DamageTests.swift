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

  private func strike(_ hash: SHA256Digest, _ damage: BlobDamage) throws {
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

  @Test("each kind is told by reading to the end, paced or not; the right bytes are whole", arguments: [true, false])
  func told(isPaced: Bool) throws {
    let pace = isPaced ? ReadingPace(bytesPerSecond: 1 << 30, until: CancellationFlag()) : nil
    let blob = try seal()
    try store.publish(blob)
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes, pace: pace) == nil)
    for damage in [BlobDamage.corrupt, .truncated, .missing] {
      try strike(blob.hash, damage)
      #expect(try store.damage(of: blob.hash, bytes: blob.bytes, pace: pace) == damage)
    }
    try store.publish(seal())
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes + 1, pace: pace) == .truncated)
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes - 1, pace: pace) == .corrupt)
  }

  @Test("a file of another length is not opened as the blob")
  func length() throws {
    let blob = try seal()
    try store.publish(blob)
    #expect(try store.open(blob.hash, bytes: blob.bytes).size() == blob.bytes)
    #expect(throws: BlobError.damaged(blob.hash, .corrupt)) { _ = try store.open(blob.hash, bytes: 3).number }
    try strike(blob.hash, .truncated)
    #expect(throws: BlobError.damaged(blob.hash, .truncated)) {
      _ = try store.open(blob.hash, bytes: blob.bytes).number
    }
    try strike(blob.hash, .missing)
    #expect(throws: BlobError.missing(blob.hash)) { _ = try store.open(blob.hash, bytes: blob.bytes).number }
  }

  @Test("only who knows that it is corrupt replaces a file of the right length, and who reads it reads on")
  func replaced() throws {
    let blob = try seal()
    try store.publish(blob)
    try strike(blob.hash, .corrupt)
    let reading = try store.open(blob.hash)
    try store.publish(seal())
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes) == .corrupt)
    try store.publish(seal(), replacing: true)
    #expect(try store.damage(of: blob.hash, bytes: blob.bytes) == nil)
    #expect(try SHA256.digest(of: reading) != blob.hash)
    #expect(try store.leftovers().isEmpty)
    // One that was published before, and cannot be given a name again, does it too.
    try strike(blob.hash, .corrupt)
    try store.publish(blob, replacing: true)
  }

  @Test("reading at a pace ends when it is no longer wanted")
  func stopped() throws {
    let stop = CancellationFlag()
    stop.cancel()
    let blob = try seal()
    try store.publish(blob)
    #expect(throws: BlobError.system(SystemError(call: "pread", code: ECANCELED))) {
      try store.damage(of: blob.hash, bytes: blob.bytes, pace: ReadingPace(bytesPerSecond: 1, until: stop))
    }
  }
}
