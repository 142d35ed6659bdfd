import BlobTesting
import Crypto
import Glibc
import Model
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("Blobs that move to another store")
struct MovingBlobStoreTests {
  private let folder: TemporaryFolder
  private let old: FolderBlobStore
  private let new: FolderBlobStore

  init() throws {
    folder = try TemporaryFolder()
    old = try FolderBlobStore(folder: "\(folder.path)/old")
    new = try FolderBlobStore(folder: "\(folder.path)/new")
  }

  private var store: MovingBlobStore { MovingBlobStore(old, next: new) }

  private static func seal(_ text: String, in store: some BlobStore) throws -> SealedBlob {
    var staged = try store.stage()
    try Array(text.utf8).withUnsafeBytes { try staged.append($0) }
    return try staged.seal()
  }

  @Test("it passes the checks of every blob store")
  func conformance() throws { try BlobStoreConformance(store: store).check() }

  @Test("what is written is in both stores, what one of them has is read, and what is removed is in neither")
  func both() throws {
    let both = try Self.seal("both", in: store)
    try store.prepare(both)
    try store.publish(both)
    #expect(try old.contains(both.hash) && new.contains(both.hash))
    // A process that knows the old store alone, before the move, and one that knows the new one alone, after it.
    let (before, after) = (try Self.seal("before", in: old), try Self.seal("after", in: new))
    try old.publish(before)
    try new.publish(after)
    for blob in [before, after] {
      #expect(try store.contains(blob.hash) && store.open(blob.hash).contents() == blob.content())
      #expect(try store.damage(of: blob.hash, bytes: blob.bytes) == nil)
    }
    let listed = try (0..<store.shards).reduce(into: Set<SHA256Digest>()) {
      $0.formUnion(try store.listing(ofShard: $1).blobs.keys)
    }
    #expect(listed == [both.hash, before.hash, after.hash])
    for hash in listed {
      #expect(try store.remove(hash))
      #expect(try !old.contains(hash) && !new.contains(hash))
    }
    #expect(Set(store.ids) == [old.id, new.id])
  }

  @Test("a store that is away is not one that lacks the blob")
  func away() throws {
    let blob = try Self.seal("there", in: store)
    try store.publish(blob)
    try new.remove(blob.hash)
    #expect(rename("\(folder.path)/old", "\(folder.path)/away") == 0)
    #expect(throws: BlobError.unavailable("no store-id in \(folder.path)/old")) { _ = try store.open(blob.hash).number }
  }

  @Test("a blob that was damaged in one store is replaced in both")
  func replaced() throws {
    let blob = try Self.seal("whole", in: store)
    try store.publish(blob)
    for store in [old, new] {
      #expect(unlink(store.path(of: blob.hash)) == 0)
      try Descriptor(writing: store.path(of: blob.hash), replacing: true, mode: 0o600).write(Array("wrong".utf8))
    }
    try store.publish(blob, replacing: true)
    #expect(try old.damage(of: blob.hash, bytes: 5) == nil && new.damage(of: blob.hash, bytes: 5) == nil)
  }

  @Test("a copy whose bytes have another hash is not published")
  func wrongCopy() throws {
    let blob = try Self.seal("right", in: old)
    let file = try Self.seal("other", in: old).duplicate()
    #expect(throws: BlobError.damaged(blob.hash, .corrupt)) { _ = try new.copy(of: file, blob.hash) }
    #expect(try !new.contains(blob.hash))
  }
}
