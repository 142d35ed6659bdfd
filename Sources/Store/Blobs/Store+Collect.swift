import Blobs
package import Crypto
import Postgres

extension Store {
  /// Removes those of the blobs that nothing refers to any more; how many.
  ///
  /// Each in a transaction of its own: a file is removed under the lock of its row, and must not be missed by a
  /// reference that a rollback would bring back.
  @discardableResult
  package func collect(_ hashes: some Sequence<SHA256Digest> & Sendable) async throws -> Int {
    var collected = 0
    for hash in hashes {
      let isCollected = try await transaction { session in
        try session.execute(StatementFiles.blob["forget_release"], .bytes(hash.bytes))
        guard let row = try session.execute(StatementFiles.blob["lock"], .bytes(hash.bytes)).first else { return false }
        let isInline: Bool = try row.get("is_inline")
        let isReferredTo: Bool = try session.execute(StatementFiles.blob["is_referred_to"], .bytes(hash.bytes))
          .single().get("is_referred_to")
        if isReferredTo { return false }
        if !isInline { try blobs.remove(hash) }
        try session.execute(StatementFiles.blob["delete"], .bytes(hash.bytes))
        return true
      }
      if isCollected { collected += 1 }
    }
    return collected
  }

  /// Collects what was released by transactions whose process died before it could.
  @discardableResult
  package func collectReleased(limit: Int = 100) async throws -> Int {
    let hashes = try await pool.run { session in
      var hashes: [SHA256Digest] = []
      for row in try session.execute(StatementFiles.blob["released"], .integer(limit)) {
        hashes.append(try row.digest("hash"))
      }
      return hashes
    }
    return try await collect(hashes)
  }
}
