package import Blobs
package import Crypto
package import FoundationEssentials
package import Model
package import Platform

/// A wait of a thread until a test opens it, as for a bucket that does not answer.
package final class Gate: Sendable {
  private let isOpen: Event

  package init() throws { isOpen = try Event() }

  package func wait() { isOpen.wait() }

  package func open() { isOpen.signal() }
}

/// A blob store that calls a test where a bucket would be waited for.
package struct ObservedBlobStore: LocalBlobStore, InspectableBlobStore {
  private let base: any InspectableBlobStore

  /// Called before a blob is prepared.
  package var onPrepare: @Sendable (SealedBlob) -> Void = { _ in }
  /// Called before a blob is published.
  package var onPublish: @Sendable (SealedBlob) -> Void = { _ in }
  /// Called before a blob is opened.
  package var onOpen: @Sendable (SHA256Digest) -> Void = { _ in }
  /// Called after a blob was read, before its reader receives the result.
  package var onRead: @Sendable (SHA256Digest) -> Void = { _ in }
  /// Called before a blob is removed.
  package var onRemove: @Sendable (SHA256Digest) throws(BlobError) -> Void = { _ in }
  /// The free space; nil: that of the store.
  package var free: (@Sendable () -> Int64?)?

  /// The time since which uploads without a byte are at rest.
  package var uploadsBegan: Date?

  package init(_ base: any InspectableBlobStore) { self.base = base }

  package var ids: [PublicID] { base.ids }
  package var shards: Int { base.shards }

  package func stage() throws(BlobError) -> StagedBlob { try base.stage() }

  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    onPrepare(blob)
    try base.prepare(blob, replacing: replacing)
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    onPublish(blob)
    try base.publish(blob, replacing: replacing)
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    onOpen(hash)
    return try base.open(hash)
  }

  package func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    defer { onRead(hash) }
    return try base.openUncached(hash)
  }

  package func damage(of hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    defer { onRead(hash) }
    return try base.damage(of: hash, bytes: bytes, rate: rate)
  }

  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    try onRemove(hash)
    return try base.remove(hash)
  }

  package func freeBytes() throws(BlobError) -> Int64? {
    if let free { return free() }
    return try base.freeBytes()
  }
  package func uploads() throws(BlobError) -> UploadFolder {
    var uploads = try base.uploads()
    if let uploadsBegan { uploads.began = uploadsBegan }
    return uploads
  }
  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.contains(hash) }
  package func listing(ofShard shard: Int) throws(BlobError) -> BlobListing { try base.listing(ofShard: shard) }
  package func stagedOrphans() throws(BlobError) -> [StoredFile] { try base.stagedOrphans() }
  package func removeStagedOrphans() throws(BlobError) -> [StoredFile] { try base.removeStagedOrphans() }
  package func location(of hash: SHA256Digest) -> String { base.location(of: hash) }
}
