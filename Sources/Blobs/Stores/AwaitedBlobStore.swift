package import Crypto
package import Model
package import Platform

/// A blob store that may not be open yet: until its folder or bucket can be used, each call throws `.unavailable` with the reason, as
/// the calls of an open store do whose disk has gone.
package final class AwaitedBlobStore: InspectableBlobStore {
  private struct State {
    var blobs: (any InspectableBlobStore)?
    var reason: String
  }

  package let isRemote: Bool
  package let urlOrigin: String?
  private let state: Locked<State>

  /// - Parameters:
  ///   - isRemote: whether what is published is written to another machine, once the store is open.
  ///   - urlOrigin: the origin of URLs at which anybody reads a blob; nil if the store has none.
  ///   - reason: why the store is not open.
  package init(isRemote: Bool, urlOrigin: String?, reason: String = "it is being opened") {
    state = Locked(State(reason: reason))
    self.isRemote = isRemote
    self.urlOrigin = urlOrigin
  }

  /// Passes all further calls on to an open store.
  package func open(_ blobs: any InspectableBlobStore) { state.withLock { $0.blobs = blobs } }

  /// Sets the reason why the store cannot be opened yet.
  package func wait(for reason: String) { state.withLock { $0.reason = reason } }

  private var opened: (any InspectableBlobStore)? { state.withLock(\.blobs) }

  private func store() throws(BlobError) -> any InspectableBlobStore {
    guard let opened else { throw .unavailable(state.withLock(\.reason)) }
    return opened
  }

  /// Empty as long as the store is not open.
  package var ids: [PublicID] { opened?.ids ?? [] }

  package func stage() throws(BlobError) -> StagedBlob { try store().stage() }

  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try store().prepare(blob, replacing: replacing)
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try store().publish(blob, replacing: replacing)
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try store().open(hash) }

  package func open(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try store().open(hash, bytes: bytes)
  }

  package func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? {
    try store().openLocal(hash, bytes: bytes)
  }

  package func openVerified(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try store().openVerified(hash, bytes: bytes)
  }

  package func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try store().openUncached(hash) }

  @discardableResult
  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { try store().remove(hash) }

  package func freeBytes() throws(BlobError) -> Int64? { try store().freeBytes() }

  package func url(of hash: SHA256Digest, fields: BlobFields, seconds: Int) throws(BlobError) -> String? {
    try store().url(of: hash, fields: fields, seconds: seconds)
  }

  package func uploads() throws(BlobError) -> UploadFolder { try store().uploads() }

  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try store().contains(hash) }

  package func damage(of hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    try store().damage(of: hash, bytes: bytes, rate: rate)
  }

  package func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    try store().scrub(hash, bytes: bytes, rate: rate)
  }

  package func check() throws(BlobError) { try store().check() }

  package func checkRemote() throws(BlobError) { try store().checkRemote() }

  /// Of a store that is not open no shard can be listed.
  package var shards: Int { opened?.shards ?? 1 }

  package func listing(ofShard shard: Int) throws(BlobError) -> BlobListing { try store().listing(ofShard: shard) }

  package func stagedOrphans() throws(BlobError) -> [StoredFile] { try store().stagedOrphans() }

  @discardableResult
  package func removeStagedOrphans() throws(BlobError) -> [StoredFile] { try store().removeStagedOrphans() }

  package func location(of hash: SHA256Digest) -> String { opened?.location(of: hash) ?? hash.hex }
}
