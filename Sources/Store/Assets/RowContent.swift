package import Blobs
package import Crypto
import Model
import Platform
package import Postgres
import Queue

/// The content that the rows of small outputs have. An output that is a source as well has it in its row and in a file: what one of the two
/// has lost, the other still has.
package enum RowContent {
  /// Reads the content of a blob's row, and stages it, unpublished; nil: the row has none, or has not the bytes of the hash.
  package static func staged(
    _ hash: SHA256Digest, in blobs: any BlobStore, _ pool: Pool
  ) async throws -> SealedBlob? {
    let content = try await pool.read { session in
      try session.execute(Damage.statements["row_content"], .bytes(hash.bytes)).first?
        .get("inline_content", as: [UInt8].self)
    }
    guard let content else { return nil }
    return try await onThread("blobs") {
      var staged = try blobs.stage()
      try content.withUnsafeBytes { try staged.append($0) }
      return try staged.seal()
    }
  }
}

extension Store {
  /// Writes the file of a source from the content of its row, and replaces what the file had; false if the row has not the content.
  package func restoreFile(of hash: SHA256Digest, _ pool: Pool) async throws -> Bool {
    guard let blob = try await RowContent.staged(hash, in: blobs, pool) else { return false }
    try await onThread("blobs") { [blobs] in try blobs.prepare(blob, replacing: true) }
    let source = NewAsset(role: .sourcePhoto, type: "application/octet-stream", content: blob)
    return try await transaction(publishing: [source], pool) { session in
      // A collector may have removed the row meanwhile: then the file goes, too.
      guard try !session.execute(Collecting.statements["lock_blob"], .bytes(hash.bytes)).isEmpty else { return false }
      try requirePublished([source], session)
      return true
    }
  }
}
