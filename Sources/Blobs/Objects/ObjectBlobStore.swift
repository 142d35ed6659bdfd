package import Crypto
import FoundationEssentials
import Glibc
internal import HTTPClient
package import Model
package import Platform

/// A blob store in a bucket, with objects `PREFIX/ab/<sha256>`, and two folders on this machine: what is written is staged in one, and
/// what is read is kept in it up to a limit; what clients send in parts lies in the other.
///
/// The content of an object never changes: its bytes determine its name. The store verifies the SHA-256 as it receives them, and
/// what is read from it is verified before it is used. A copy may rot: it says nothing about the object.
package struct ObjectBlobStore: BlobStore {
  let client: S3Client
  let cache: BlobCache
  // Not in the folder of copies, which may be lost at any time.
  private let uploadsFolder: String
  /// The id of the store, from its object store-id.
  package let id: PublicID

  private static let idName = "store-id"
  /// The time from the writing of an object to the end of the transaction that refers to it.
  private static let maxWritingSeconds = 60 * 60

  /// Opens the store; its folder is created.
  ///
  /// - Parameters:
  ///   - folder: the folder of copies on this machine.
  ///   - uploads: the folder of files that clients send in parts, on the same file system.
  ///   - limit: the number of bytes above which blobs that were not read for the longest time are removed from the folder.
  ///   - id: the id of a new store.
  package init(
    _ client: S3Client, folder: String, uploads: String, limit: Int64, id: PublicID = .now()
  ) throws(BlobError) {
    self.client = client
    uploadsFolder = uploads
    cache = try BlobCache(folder: folder, limit: limit)
    if let found = try Self.id(of: client) {
      self.id = found
    } else {
      try Self.wrap { try client.put(client.location.key(Self.idName), Array("\(id)\n".utf8), onlyNew: true) }
      guard let stored = try Self.id(of: client) else { throw .unavailable("\(client.location) has no store-id") }
      self.id = stored
    }
  }

  /// The id of the store in a bucket; nil if there is none.
  package static func id(of client: S3Client) throws(BlobError) -> PublicID? {
    try wrap {
      do {
        let text = String(decoding: try client.get(client.location.key(idName)), as: UTF8.self)
        return PublicID(text.prefix { !$0.isWhitespace })
      } catch let error as S3Error where error.isMissing {
        return nil
      }
    }
  }

  /// Whether a bucket has a blob.
  package static func contains(_ hash: SHA256Digest, in client: S3Client) throws(BlobError) -> Bool {
    try wrap { try client.length(of: key(hash, client)) } != nil
  }

  package var ids: [PublicID] { [id] }

  package var isRemote: Bool { true }

  package func stage() throws(BlobError) -> StagedBlob { try cache.store.stage() }

  package func uploads() throws(BlobError) -> UploadFolder { UploadFolder(of: cache.store, in: uploadsFolder) }

  package func freeBytes() throws(BlobError) -> Int64? { try cache.store.freeBytes() }

  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try blob.prepare(replacing ? .replaced : .written) { () throws(BlobError) in
      let length = try length(of: blob.hash)
      if replacing || length != blob.bytes { try upload(blob, onlyNew: length == nil && !replacing) }
      // An upload may have been removed since, which the bucket has by now. The copy on this machine may be lost at any time, and there is
      // none of an upload on another file system.
      do throws(BlobError) {
        try cache.insert(blob, replacing: replacing)
      } catch .missing(_) {
      } catch .system(let error) where error.code == EXDEV {}
    }
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    if blob.prepared >= (replacing ? .replaced : .written), try length(of: blob.hash) == blob.bytes { return }
    // A collector has removed it since.
    blob.unprepare()
    try prepare(blob, replacing: replacing)
  }

  private func length(of hash: SHA256Digest) throws(BlobError) -> Int64? {
    try Self.wrap { try client.length(of: Self.key(hash, client)) }
  }

  private func upload(_ blob: SealedBlob, onlyNew: Bool) throws(BlobError) {
    let file = OpenFile(try blob.duplicate())
    _ = try Self.wrap {
      try client.put(Self.key(blob.hash, client), file, bytes: blob.bytes, hash: blob.hash, onlyNew: onlyNew)
    }
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    if let file = try cache.open(hash) { return file }
    let blob = try download(hash)
    guard blob.hash == hash else { throw .damaged(hash, .corrupt) }
    // What cannot be kept here is the blob still.
    do throws(BlobError) { try cache.insert(blob) } catch {}
    return try blob.duplicate()
  }

  package func open(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try require(bytes, of: open(hash), hash)
  }

  package func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? {
    guard let file = try cache.open(hash) else { return nil }
    return try require(bytes, of: file, hash)
  }

  /// A copy is compared with the hash, and fetched again if it differs.
  package func openVerified(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor {
    try cache.compare(hash)
    return try open(hash, bytes: bytes)
  }

  private func download(_ hash: SHA256Digest) throws(BlobError) -> SealedBlob {
    let staged = try cache.store.stage()
    do {
      try client.get(Self.key(hash, client), into: staged.file.descriptor.number)
    } catch let error as S3Error where error.isMissing {
      throw .missing(hash)
    } catch {
      throw Self.translated(error)
    }
    return try staged.seal(writtenElsewhere: true)
  }

  @discardableResult
  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    let exists = try Self.wrap { try client.length(of: Self.key(hash, client), isHasty: true) } != nil
    if exists { try Self.wrap { try client.remove(Self.key(hash, client)) } }
    try cache.store.remove(hash)
    return exists
  }

  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try Self.contains(hash, in: client) }

  /// Reads the object. A copy on this machine that differs is removed, and is no damage of the blob.
  package func damage(
    of hash: SHA256Digest, bytes: Int64, rate: ReadRate?
  ) throws(BlobError) -> BlobDamage? {
    try cache.compare(hash)
    do throws(BlobError) {
      let blob = try download(hash)
      if blob.bytes != bytes { return blob.bytes < bytes ? .truncated : .corrupt }
      return blob.hash == hash ? nil : .corrupt
    } catch {
      guard let damage = error.damage else { throw error }
      return damage
    }
  }

  /// Nothing is left to do: a copy has been compared as it was opened, and an object as it was fetched.
  package func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? { nil }

  /// Asks this machine alone.
  package func check() throws(BlobError) { try cache.store.check() }

  /// Asks the bucket once whether it belongs to the store; throws as well if it has refused the last write.
  package func checkRemote() throws(BlobError) {
    let text = try Self.wrap { try client.get(client.location.key(Self.idName), isCheck: true) }
    guard PublicID(String(decoding: text, as: UTF8.self).prefix { !$0.isWhitespace }) == id else {
      throw .unavailable("\(client.location) is another store than \(id)")
    }
    if let refusal = client.writeRefusal { throw Self.translated(refusal) }
  }

  package func url(of hash: SHA256Digest, fields: BlobFields, seconds: Int) throws(BlobError) -> String? {
    var query = [("response-content-type", fields.contentType)]
    if let value = fields.contentDisposition { query.append(("response-content-disposition", value)) }
    if let value = fields.cacheControl { query.append(("response-cache-control", value)) }
    return try Self.wrap { try client.signedURL(Self.key(hash, client), query: query, seconds: seconds) }
  }

  package var urlOrigin: String? { client.origin }

  private static func key(_ hash: SHA256Digest, _ client: S3Client) -> String {
    client.location.key("\(hash.hex.prefix(2))/\(hash.hex)")
  }

  private static func wrap<Value>(_ body: () throws -> Value) throws(BlobError) -> Value {
    do { return try body() } catch { throw translated(error) }
  }

  private static func translated(_ error: any Error) -> BlobError {
    switch error {
    case let error as BlobError: error
    case let error as SystemError: .system(error)
    case let error as S3Error where error.isRefusal:
      .refused("\(error.status ?? 0) \(error.code)", reason: "\(error)")
    default: .unavailable("\(error)")
    }
  }
}

extension ObjectBlobStore: InspectableBlobStore {
  /// One for each first byte of a hash.
  package var shards: Int { 256 }

  package func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try download(hash).duplicate() }

  package func listing(ofShard shard: Int) throws(BlobError) -> BlobListing {
    var listing = BlobListing()
    let prefix = client.location.key((shard < 16 ? "0" : "") + String(shard, radix: 16) + "/")
    try Self.wrap {
      let recent = Date(timeIntervalSince1970: Double(client.storeSeconds() - Self.maxWritingSeconds))
      try client.list(prefix) { key, bytes, time in
        let name = key.dropFirst(prefix.count)
        if let hash = SHA256Digest(hex: name), hash.hex == name, Self.key(hash, client) == key {
          listing.blobs[hash] = bytes
          if time > recent { listing.recent.insert(hash) }
        } else {
          listing.foreign.append(StoredFile(path: key, bytes: bytes))
        }
      }
    }
    return listing
  }

  /// Staged files of this machine, and uploads to the bucket in parts whose writers ended, on whatever machine.
  package func stagedOrphans() throws(BlobError) -> [StoredFile] {
    try cache.store.stagedOrphans() + abandonedUploads().map { StoredFile(path: $0.key, bytes: 0) }
  }

  @discardableResult
  package func removeStagedOrphans() throws(BlobError) -> [StoredFile] {
    var removed = try cache.store.removeStagedOrphans()
    for upload in try abandonedUploads() {
      try Self.wrap { try client.abort(upload) }
      removed.append(StoredFile(path: upload.key, bytes: 0))
    }
    return removed
  }

  private func abandonedUploads() throws(BlobError) -> [S3Client.UnfinishedUpload] {
    try Self.wrap { try client.abandonedUploads() }
  }

  package func location(of hash: SHA256Digest) -> String {
    "s3://\(client.location.bucket)/\(Self.key(hash, client))"
  }
}
