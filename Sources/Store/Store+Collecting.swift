import Blobs
import Crypto
package import Postgres

extension Store {
  /// Removes released blobs that nothing refers to any more; how many were looked at.
  ///
  /// Call it in a transaction of its own, after the one that released them has committed: the removal of a file cannot
  /// be rolled back, and must not be missed by a reference that can. Where this is rolled back, a row without a reference
  /// may stay behind without its file until the next call; who brings the same bytes meanwhile publishes them again.
  @discardableResult
  package func collectReleased(limit: Int = 100, _ session: Session) throws -> Int {
    let released = try session.execute(Self.statements["take_released"], .integer(limit))
    var hashes: Set<SHA256Digest> = []
    for row in released { if let hash = SHA256Digest(bytes: try row.get("hash")) { hashes.insert(hash) } }
    // In the order in which everybody locks blobs.
    for hash in hashes.sorted() { try collect(hash, session) }
    return released.count
  }

  // The row is locked while it is judged and its file removed: who publishes the same bytes waits, and links anew.
  private func collect(_ hash: SHA256Digest, _ session: Session) throws {
    let name = Parameter.bytes(hash.bytes)
    guard try !session.execute(Self.statements["lock_blob"], name).isEmpty else { return }
    guard try session.execute(Self.statements["is_referenced"], name).isEmpty else { return }
    try session.execute(Self.statements["drop_blob"], name)
    try blobs.remove(hash)
  }
}
