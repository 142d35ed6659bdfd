import Blobs
import Crypto
import Model
import Platform
import Postgres
import Queue
import Store

/// An upload that a post awaits, and that this machine has given to a post already: the database has lost the commit of that, as a standby
/// that was promoted, or a backup that was restored.
struct FinishedUpload: Sendable {
  let upload: PublicID
  let post: PublicID
  /// The blob that its bytes have become; nil: it is not known.
  let hash: SHA256Digest?

  private static let page = 1000
  private static let none = "00000000-0000-0000-0000-000000000000"

  /// Returns those among the uploads of this machine.
  static func all(_ blobs: any BlobStore, _ pool: Pool) async throws -> [FinishedUpload] {
    var found: [FinishedUpload] = []
    var last = none
    while true {
      let awaited = try await pool.run { [last] session in
        try session.execute(Integrity.statements["awaited_uploads"], .text(last), .integer(page)).map { row in
          (upload: try row.publicID("upload"), post: try row.publicID("public_id"))
        }
      }
      guard let end = awaited.last else { break }
      last = end.upload.description
      let finished: [FinishedUpload] = try await onThread("uploads") {
        let folder = try blobs.uploads()
        return try awaited.compactMap { upload, post in
          guard let record = try folder.record(upload), record.isFinished else { return nil }
          return FinishedUpload(upload: upload, post: post, hash: record.blob)
        }
      }
      found += finished
    }
    return try await stillAwaited(among: found, pool)
  }

  /// An upload is finished after the commit: one that was read before it is awaited no longer.
  private static func stillAwaited(among uploads: [FinishedUpload], _ pool: Pool) async throws -> [FinishedUpload] {
    if uploads.isEmpty { return [] }
    let ids = uploads.map(\.upload.description)
    let awaited = try await pool.run { session in
      Set(
        try session.execute(Integrity.statements["still_awaited"], .texts(ids)).map { try $0.publicID("upload") })
    }
    return uploads.filter { awaited.contains($0.upload) }
  }
}
