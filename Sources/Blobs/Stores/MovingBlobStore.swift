package import Crypto
package import Model
package import Platform

/// A store whose blobs move to another one: writes go to both, and reads come from the first that has the blob intact.
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

  /// Nil: a URL names one of the stores, which may not have the blob.
  package func url(of hash: SHA256Digest, fields: BlobFields, seconds: Int) throws(BlobError) -> String? { nil }

  package var urlOrigin: String? { nil }

  package func stage() throws(BlobError) -> StagedBlob { try current.stage() }

  package func uploads() throws(BlobError) -> UploadFolder { try current.uploads() }

  package func freeBytes() throws(BlobError) -> Int64? {
    [try current.freeBytes(), try next.freeBytes()].compactMap(\.self).min()
  }

  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try current.prepare(blob, replacing: replacing)
    try next.prepare(copy(of: blob), replacing: replacing)
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try current.publish(blob, replacing: replacing)
    try next.publish(copy(of: blob), replacing: replacing)
  }

  /// Returns the copy of a blob for the next store. There is one even if that store has a file with the name of the blob: the store
  /// alone compares the file with the blob.
  private func copy(of blob: SealedBlob) throws(BlobError) -> SealedBlob {
    if let copy = blob.copy { return copy }
    let copy = try next.copy(of: try blob.duplicate(), blob.hash)
    blob.copy = copy
    return copy
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    try first { (store) throws(BlobError) in try store.open(hash) }
  }

  package func open(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try first { (store) throws(BlobError) in try store.open(hash, bytes: bytes) }
  }

  package func openVerified(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try first { (store) throws(BlobError) in try store.openVerified(hash, bytes: bytes) }
  }

  /// Reads a file to its end before it returns it: the next store may have the bytes that the current one has lost. If neither has them, it
  /// returns what a store has.
  package func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    do throws(BlobError) {
      return try first { (store) throws(BlobError) in
        let file = try store.openUncached(hash)
        let digest: SHA256Digest
        do throws(SystemError) { digest = try SHA256.digest(of: file) } catch { throw .system(error) }
        guard digest == hash else { throw .damaged(hash, .corrupt) }
        return file
      }
    } catch {
      guard case .damaged = error else { throw error }
      return try first { (store) throws(BlobError) in try store.openUncached(hash) }
    }
  }

  package func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? {
    var failure: BlobError?
    do throws(BlobError) {
      if let file = try current.openLocal(hash, bytes: bytes) { return file }
    } catch {
      failure = error
    }
    do throws(BlobError) {
      return try next.openLocal(hash, bytes: bytes)
    } catch {
      // The current store has to ask another machine.
      guard let failure else { return nil }
      throw Self.error(failure, error)
    }
  }

  /// Returns what the first store returns that does not fail.
  private func first(
    _ open: (any InspectableBlobStore) throws(BlobError) -> Descriptor
  ) throws(BlobError) -> Descriptor {
    let failure: BlobError
    do throws(BlobError) { return try open(current) } catch { failure = error }
    do throws(BlobError) { return try open(next) } catch { throw Self.error(failure, error) }
  }

  /// Returns the error of both stores. A blob is damaged or missing only if neither store may have it intact.
  private static func error(_ current: BlobError, _ next: BlobError) -> BlobError {
    guard let damage = current.damage else { return current }
    return next.damage == nil || damage == .missing ? next : current
  }

  @discardableResult
  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    let wasInCurrent = try current.remove(hash)
    let wasInNext = try next.remove(hash)
    return wasInCurrent || wasInNext
  }

  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    var failure: BlobError?
    do throws(BlobError) { if try current.contains(hash) { return true } } catch { failure = error }
    if try next.contains(hash) { return true }
    if let failure { throw failure }
    return false
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

  /// Both paths: a blob is damaged if neither store has it intact, and a reader needs it in one of them.
  package func location(of hash: SHA256Digest) -> String {
    "\(current.location(of: hash)) and \(next.location(of: hash))"
  }
}

/// The damage of one of two files, which the other one mends.
extension MovingBlobStore {
  package func damage(of hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    try damage(of: hash, bytes) { (store) throws(BlobError) in try store.damage(of: hash, bytes: bytes, rate: rate) }
  }

  package func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? {
    try damage(of: hash, bytes) { (store) throws(BlobError) in try store.scrub(hash, bytes: bytes, rate: rate) }
  }

  /// Reads both files, since readers may receive either, and replaces one that is damaged; one that is missing may be missing for
  /// good reason. Returns the damage of a blob that neither store has intact.
  private func damage(
    of hash: SHA256Digest, _ bytes: Int64, _ read: (any InspectableBlobStore) throws(BlobError) -> BlobDamage?
  ) throws(BlobError) -> BlobDamage? {
    let (here, there) = (Self.result(of: current, read), Self.result(of: next, read))
    switch (here, there) {
    case (.success(let damage?), .success(nil)) where damage != .missing:
      return try replace(hash, bytes, in: current, from: next) ? nil : damage
    case (.success(nil), .success(let damage?)) where damage != .missing:
      return try replace(hash, bytes, in: next, from: current) ? nil : damage
    case (.success(nil), _), (_, .success(nil)): return nil
    case (.failure(let error), _), (_, .failure(let error)): throw error
    case (.success(let damage?), .success(let other?)): return damage == .missing ? other : damage
    }
  }

  private static func result(
    of store: any InspectableBlobStore, _ read: (any InspectableBlobStore) throws(BlobError) -> BlobDamage?
  ) -> Result<BlobDamage?, BlobError> {
    do throws(BlobError) { return .success(try read(store)) } catch { return .failure(error) }
  }

  /// Writes a damaged file again; returns false if the other store has not the bytes either, such as a bucket that reads nothing to scrub
  /// a blob. A collector that removes the blob meanwhile may leave a file without a row, as a crash does.
  private func replace(
    _ hash: SHA256Digest, _ bytes: Int64, in store: any InspectableBlobStore, from other: any InspectableBlobStore
  ) throws(BlobError) -> Bool {
    let file: Descriptor
    do throws(BlobError) { file = try other.openVerified(hash, bytes: bytes) } catch {
      guard error.damage != nil else { throw error }
      return false
    }
    let blob = try store.copy(of: file, hash)
    try store.prepare(blob, replacing: true)
    try store.publish(blob, replacing: true)
    return true
  }
}
