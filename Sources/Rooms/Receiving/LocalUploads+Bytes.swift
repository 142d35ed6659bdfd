internal import Blobs
internal import Crypto
internal import Kit
internal import Model
internal import Telemetry

/// The bytes of uploads that posts await.
///
/// An upload is finished after the commit that gives its bytes to a post. A standby that is promoted may have lost that commit: then the post
/// awaits an upload whose bytes are those of a blob, to which no row refers.
extension LocalUploads {
  /// What there is of an upload.
  enum Bytes {
    case whole(SealedBlob)
    case partial
    /// They were whole, and neither the upload nor a blob has them.
    case lost
  }

  /// What there is of an upload, as far as that shows without reading its bytes.
  enum Presence {
    case whole, partial, lost
  }

  /// Looks for the bytes of an upload, and reads none: a blob may be large, or in a bucket. Returns nil if the upload has no file.
  func presence(of record: UploadRecord) throws -> Presence? {
    guard let file = try folder().open(record.id) else {
      guard record.isFinished else { return nil }
      guard let hash = record.blob else { return .lost }
      do throws(BlobError) { return try blobs.contains(hash) ? Presence.whole : .lost } catch {
        guard error.damage != nil else { throw error }
        return .lost
      }
    }
    let state = try file.synchronizedState()
    guard state.isWhole else { return record.isFinished ? Presence.lost : .partial }
    return record.isCut(state) ? .lost : .whole
  }

  /// Returns the bytes of an upload; nil if it has no file.
  func bytes(of record: UploadRecord) throws -> Bytes? {
    guard let file = try folder().open(record.id) else {
      guard record.isFinished else { return nil }
      return try content(ofFinished: record).map(Bytes.whole) ?? .lost
    }
    // A process was ended after it had finished the record, or as it reopened the upload.
    let state = try file.synchronizedState()
    guard state.isWhole else { return record.isFinished ? Bytes.lost : .partial }
    return record.isCut(state) ? .lost : .whole(try file.sealed(hash: hash(of: record)))
  }

  /// Returns the content of the blob that a finished upload has become; nil if it is lost.
  private func content(ofFinished record: UploadRecord) throws(BlobError) -> SealedBlob? {
    guard let bytes = record.length, let hash = record.blob else { return nil }
    do throws(BlobError) {
      // A copy: before the commit any collector may remove a blob without a row.
      let blob = try blobs.open(hash, bytes: bytes)
      return try blobs.copy(of: blob, hash)
    } catch {
      guard error.damage != nil else { throw error }
      return nil
    }
  }

  /// Makes uploads of a post whose bytes are lost ones without bytes: a client that asks for the offset sends them again.
  func reopen(_ uploads: [PublicID], of post: PublicID) throws {
    for id in uploads {
      contents.forget(id)
      guard let record = try folder().reopen(id) else { continue }
      openUploads.update(record)
      log.warning(
        "the bytes of an upload are lost: its client is asked for them again", ["upload": "\(id)", "post": "\(post)"])
    }
  }
}
