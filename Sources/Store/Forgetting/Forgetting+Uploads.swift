package import Blobs
import Crypto
import FoundationEssentials
package import Model
import Platform
package import Postgres
import Queue

/// The uploads on one machine of users who were deleted by a worker on another one.
extension Forgetting {
  /// Removes the uploads of the user of a deletion, which waits for the disk: outside of a transaction. Other machines remove theirs
  /// when they look. A file that is removed although the deletion is interrupted is one of a user who is being deleted.
  static func removeUploads(ofJob job: PublicID, _ blobs: any BlobStore, _ pool: Pool) async throws {
    let user = try await pool.run { session in
      try session.execute(Self.statements["user_of_forgetting"], .text(job.description)).first?
        .get("user_id", as: String.self)
    }
    guard let user else { return }
    try await onThread("uploads") { try blobs.uploads().removeAll(of: user) }
  }

  /// Removes the uploads on this machine that have expired, and uploads of users who were deleted after they began them.
  ///
  /// - Parameter onDamage: receives the uploads whose records are damaged, with the reasons.
  package static func removeUploads(
    _ blobs: any BlobStore, _ pool: Pool, onDamage: @escaping @Sendable (PublicID, String) -> Void
  ) async throws {
    let users = try await onThread("uploads") {
      var uploads = try blobs.uploads()
      uploads.onDamage = onDamage
      _ = try uploads.removeExpired(now: UploadClock.now)
      return try blobs.uploads().users()
    }
    guard !users.isEmpty else { return }
    let digests = users.map { SHA256.digest(of: Array($0.utf8)).bytes }
    let ends = try await pool.run { session in
      var ends: [[UInt8]: Date] = [:]
      for row in try session.execute(Self.statements["forgotten_users"], .byteStrings(digests)) {
        ends[try row.get("digest")] = Date(microseconds: try row.get("forgotten_at"))
      }
      return ends
    }
    guard !ends.isEmpty else { return }
    try await onThread("uploads") {
      try blobs.uploads().removeAll { user in ends[SHA256.digest(of: Array(user.utf8)).bytes] }
    }
  }

  /// Forgets deleted users once no machine can have an upload of theirs.
  package static func dropOld(_ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["drop_old_forgotten"])
  }
}
