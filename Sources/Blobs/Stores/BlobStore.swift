package import Crypto
package import Model
package import Platform

/// A store of media files, named by their SHA-256. All calls block.
///
/// A writer calls `publish`, and then upserts the blob's row, which locks it, in a database transaction; both again if a removal of the
/// blob came in between. The collector locks the row, checks that nothing refers to it, deletes the row, and commits; then it calls `remove`, and no writer
/// inserts the row until that has ended. So a crash can leave a file without a row, but never a row without a file.
package protocol BlobStore: Sendable {
  /// The ids of the stores that a publication writes to.
  var ids: [PublicID] { get }

  /// Whether a publication writes to another machine.
  var isRemote: Bool { get }

  /// Starts a blob; a blob that is not published leaves no file.
  func stage() throws(BlobError) -> StagedBlob

  /// Does the slow part of a publication, so that `publish` is short.
  ///
  /// - Parameter replacing: whether the blob is known to be damaged.
  func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError)

  /// Makes a sealed blob durable and readable under its hash.
  ///
  /// Throws `.missing` if the blob belongs to an upload which has been removed.
  ///
  /// - Parameter replacing: whether to replace an existing blob, because it is known to be damaged; otherwise an
  ///   existing blob does not change.
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError)

  /// Opens a published blob for reading; throws `.missing` if it does not exist, `.unavailable` if the store cannot be
  /// reached.
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor

  /// Opens a published blob; throws `.damaged` if its length differs from `bytes`.
  func open(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor

  /// Opens a published blob, or a copy of it, without asking another machine; nil if only that has it. Throws `.damaged` if the
  /// length differs from `bytes`.
  func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor?

  /// Opens a published blob whose bytes have been compared with its hash and length; throws `.damaged` if they differ.
  func openVerified(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor

  /// Removes a blob; returns whether it existed. Readers that have it open are not affected.
  @discardableResult
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool

  /// The free space in bytes; nil if there is no known limit.
  func freeBytes() throws(BlobError) -> Int64?

  /// Returns a URL at which anybody reads a blob for a time; nil if the store has none.
  ///
  /// - Parameter fields: the header fields of the response.
  func url(of hash: SHA256Digest, fields: BlobFields, seconds: Int) throws(BlobError) -> String?

  /// The origin of such URLs (RFC 6454); nil if the store has none.
  var urlOrigin: String? { get }

  /// The files that clients send in parts.
  func uploads() throws(BlobError) -> UploadFolder

  /// Whether a blob exists.
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool

  /// Reads a blob to its end and returns its damage; nil if it is intact.
  ///
  /// - Parameter rate: the rate limit; nil: none.
  func damage(of hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage?

  /// Reads a served blob to its end and returns its damage; nil if it is intact. A bucket returns nil: it compares each copy when it
  /// opens it.
  ///
  /// - Parameter rate: the rate limit; nil: none.
  func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage?

  /// Checks that the store can be reached on this machine and has room for a small file.
  func check() throws(BlobError)

  /// Checks that what the store has on another machine can be reached.
  func checkRemote() throws(BlobError)
}

/// The header fields of a response with a blob.
package struct BlobFields: Sendable, Hashable {
  package let contentType: String
  package let contentDisposition: String?
  package let cacheControl: String?

  package init(contentType: String, contentDisposition: String?, cacheControl: String?) {
    self.contentType = contentType
    self.contentDisposition = contentDisposition
    self.cacheControl = cacheControl
  }
}

extension BlobStore {
  package func prepare(_ blob: SealedBlob) throws(BlobError) { try prepare(blob, replacing: false) }

  /// Makes a sealed blob durable and readable under its hash; an existing blob does not change.
  package func publish(_ blob: SealedBlob) throws(BlobError) { try publish(blob, replacing: false) }

  /// Copies a file of another store, unpublished; throws `.damaged` if its content does not have the hash.
  package func copy(of file: borrowing Descriptor, _ hash: SHA256Digest) throws(BlobError) -> SealedBlob {
    var staged = try stage()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count: Int
      do throws(SystemError) { count = try file.read(into: buffer, at: offset) } catch { throw .system(error) }
      if count == 0 { break }
      try staged.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
    let blob = try staged.seal()
    guard blob.hash == hash else { throw .damaged(hash, .corrupt) }
    return blob
  }

  /// Returns the file of a blob; throws `.damaged` if its length differs from `bytes`.
  package func require(
    _ bytes: Int64, of file: consuming Descriptor, _ hash: SHA256Digest
  ) throws(BlobError) -> Descriptor {
    let found: Int64
    do throws(SystemError) { found = try file.size() } catch { throw .system(error) }
    guard found == bytes else { throw .damaged(hash, found < bytes ? .truncated : .corrupt) }
    return file
  }

  package func damage(of hash: SHA256Digest, bytes: Int64) throws(BlobError) -> BlobDamage? {
    try damage(of: hash, bytes: bytes, rate: nil)
  }
}

/// A blob store that can list its files, for verification and collection. All calls block.
package protocol InspectableBlobStore: BlobStore {
  /// The number of shards in which the store lists its files, each small enough for memory; at least 256.
  var shards: Int { get }

  /// Opens a published blob as the store has it, not a copy of it on this machine. The bytes may be others than those of
  /// the hash.
  func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor

  /// Lists one shard. Shard N below 256 lists the blobs whose hash begins with byte N; later shards list foreign files.
  func listing(ofShard shard: Int) throws(BlobError) -> BlobListing

  /// The staged files whose writers ended before they were published.
  func stagedOrphans() throws(BlobError) -> [StoredFile]

  /// Removes the staged files whose writers ended; returns them.
  @discardableResult
  func removeStagedOrphans() throws(BlobError) -> [StoredFile]

  /// The path of a blob, or the paths if several stores hold it, for messages.
  func location(of hash: SHA256Digest) -> String
}

/// The files in one shard of a blob store.
package struct BlobListing: Sendable, Hashable {
  /// The published blobs with their lengths.
  package var blobs: [SHA256Digest: Int64] = [:]
  /// The blobs of a bucket that are younger than an hour: a writer publishes them before its transaction. A folder lists none.
  package var recent: Set<SHA256Digest> = []
  /// Files that no blob store created.
  package var foreign: [StoredFile] = []

  package init() {}
}

/// A file in a blob store.
package struct StoredFile: Sendable, Hashable {
  /// Relative to the folder of the store.
  package let path: String
  /// The length.
  package let bytes: Int64

  package init(path: String, bytes: Int64) {
    self.path = path
    self.bytes = bytes
  }
}
