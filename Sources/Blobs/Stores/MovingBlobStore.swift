package import Crypto
package import Model
package import Platform

/// A store whose blobs move to another one: writes go to both, and reads come from the first that has the blob.
///
/// It is used from before the move until after it, so that processes which know one of the stores alone, and processes which know
/// both, read what the others have written.
package struct MovingBlobStore: InspectableBlobStore {
  private let current: any InspectableBlobStore
  private let next: any InspectableBlobStore

  /// - Parameter next: the store that the blobs move to.
  package init(_ current: any InspectableBlobStore, next: any InspectableBlobStore) {
    self.current = current
    self.next = next
  }

  package var ids: [PublicID] { current.ids + next.ids }

  package var isRemote: Bool { current.isRemote || next.isRemote }

  package func stage() throws(BlobError) -> StagedBlob { try current.stage() }

  package func uploads() throws(BlobError) -> UploadFolder { try current.uploads() }

  package func freeBytes() throws(BlobError) -> Int64? {
    [try current.freeBytes(), try next.freeBytes()].compactMap(\.self).min()
  }

  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try current.prepare(blob, replacing: replacing)
    if blob.copy == nil {
      if !replacing, try next.contains(blob.hash) { return }
      blob.copy = try next.copy(of: try blob.duplicate(), blob.hash)
    }
    if let copy = blob.copy { try next.prepare(copy, replacing: replacing) }
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try current.publish(blob, replacing: replacing)
    if let copy = blob.copy { return try next.publish(copy, replacing: replacing) }
    if !replacing, try next.contains(blob.hash) { return }
    try next.publish(try next.copy(of: try blob.duplicate(), blob.hash), replacing: replacing)
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    try first { (store) throws(BlobError) in try store.open(hash) }
  }

  package func openVerified(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try first { (store) throws(BlobError) in try store.openVerified(hash, bytes: bytes) }
  }

  package func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    try first { (store) throws(BlobError) in try store.openUncached(hash) }
  }

  package func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? {
    do throws(BlobError) {
      return try current.openLocal(hash, bytes: bytes)
    } catch {
      guard case .missing = error else { throw error }
      return try next.openLocal(hash, bytes: bytes)
    }
  }

  /// Returns what the first store that has a blob returns.
  private func first(
    _ open: (any InspectableBlobStore) throws(BlobError) -> Descriptor
  ) throws(BlobError) -> Descriptor {
    do throws(BlobError) {
      return try open(current)
    } catch {
      guard case .missing = error else { throw error }
      return try open(next)
    }
  }

  @discardableResult
  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    let wasInCurrent = try current.remove(hash)
    let wasInNext = try next.remove(hash)
    return wasInCurrent || wasInNext
  }

  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    if try current.contains(hash) { return true }
    return try next.contains(hash)
  }

  package func damage(of hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    let damage = try current.damage(of: hash, bytes: bytes, rate: rate)
    return damage == .missing ? try next.damage(of: hash, bytes: bytes, rate: rate) : damage
  }

  package func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate) throws(BlobError) -> BlobDamage? {
    let damage = try current.scrub(hash, bytes: bytes, rate: rate)
    return damage == .missing ? try next.scrub(hash, bytes: bytes, rate: rate) : damage
  }

  package func check() throws(BlobError) {
    try current.check()
    try next.check()
  }

  package func checkRemote() throws(BlobError) {
    try current.checkRemote()
    try next.checkRemote()
  }

  package var shards: Int { max(current.shards, next.shards) }

  package func listing(ofShard shard: Int) throws(BlobError) -> BlobListing {
    var listing = BlobListing()
    for store in [current, next] where shard < store.shards {
      let found = try store.listing(ofShard: shard)
      listing.blobs.merge(found.blobs) { first, _ in first }
      listing.recent.formUnion(found.recent)
      listing.foreign += found.foreign
    }
    return listing
  }

  package func stagedOrphans() throws(BlobError) -> [StoredFile] {
    try current.stagedOrphans() + next.stagedOrphans()
  }

  @discardableResult
  package func removeStagedOrphans() throws(BlobError) -> [StoredFile] {
    try current.removeStagedOrphans() + next.removeStagedOrphans()
  }

  package func location(of hash: SHA256Digest) -> String { current.location(of: hash) }
}
