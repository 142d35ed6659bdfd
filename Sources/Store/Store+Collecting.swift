import Blobs
package import Crypto
package import Postgres

/// What nothing refers to any more goes.
extension Store {
  static let collecting = Statements(topic: "collecting", PackageResources.Collecting_sql)

  /// Removes released blobs that nothing refers to any more; nothing while a hold stands.
  ///
  /// Call it in a transaction of its own, after the one that released them has committed: the removal of a file cannot
  /// be rolled back, and must not be missed by a reference that can. Where this is rolled back, a row without a reference
  /// may stay behind without its file until the next call; who brings the same bytes meanwhile publishes them again.
  @discardableResult
  package func collectReleased(limit: Int = 100, _ session: Session) throws -> Collected {
    var collected = Collected()
    let released = try session.execute(Self.collecting["take_released"], .integer(limit))
    var hashes: Set<SHA256Digest> = []
    for row in released { if let hash = SHA256Digest(bytes: try row.get("hash")) { hashes.insert(hash) } }
    collected.examined = released.count
    guard !hashes.isEmpty else { return collected }
    guard try mayCollect(session) else {
      try session.execute(Self.collecting["note_released"], .byteStrings(hashes.map(\.bytes)))
      return Collected()
    }
    // In the order in which everybody locks blobs.
    for hash in hashes.sorted() { try collect(hash, into: &collected, session) }
    return collected
  }

  /// Removes those of some blobs that nothing refers to, whether or not they were released; nothing while a hold stands.
  ///
  /// Call it in a transaction of its own.
  package func collect(_ hashes: [SHA256Digest], _ session: Session) throws -> Collected {
    var collected = Collected(examined: hashes.count)
    guard try mayCollect(session) else { return collected }
    for hash in hashes.sorted() { try collect(hash, into: &collected, session) }
    return collected
  }

  /// Removes a file that lies in the blob store without a row; false where it has one, or a hold stands.
  ///
  /// Call it in a transaction of its own. Its hash is claimed first: a transaction that has published the same bytes and not
  /// committed yet is waited for, and one that comes later publishes them again.
  ///
  /// - Parameter bytes: its length.
  package func collectOrphan(_ hash: SHA256Digest, bytes: Int64, _ session: Session) throws -> Bool {
    guard try mayCollect(session), try claim(hash, bytes: bytes, session) else { return false }
    try session.execute(Self.collecting["drop_blob"], .bytes(hash.bytes))
    return try blobs.remove(hash)
  }

  /// Whether a file of the blob store has no row and no asset names it, so that nobody will miss it. Nothing is changed.
  ///
  /// Call it in a transaction of its own.
  package func isOrphan(_ hash: SHA256Digest, _ session: Session) throws -> Bool {
    struct Undone: Error {}
    var isOrphan = false
    do {
      try session.savepoint { session in
        isOrphan = try claim(hash, bytes: 0, session)
        throw Undone()
      }
    } catch is Undone {}
    // What is gone by now was somebody's who has been rolled back, or was collected.
    return try isOrphan && blobs.contains(hash)
  }

  // Inserts the row that is missing: false if it is not, or if an asset names it all the same.
  private func claim(_ hash: SHA256Digest, bytes: Int64, _ session: Session) throws -> Bool {
    struct Referenced: Error {}
    do {
      return try session.savepoint { session in
        let claimed = try session.execute(Self.collecting["claim_blob"], .bytes(hash.bytes), .integer(bytes))
        guard !claimed.isEmpty else { return false }
        let references = try session.execute(Self.collecting["is_referenced"], .bytes(hash.bytes))
        guard references.isEmpty else { throw Referenced() }
        return true
      }
    } catch is Referenced {
      return false
    }
  }

  // Until the transaction ends no hold begins.
  private func mayCollect(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.collecting["begin_collecting"])
    return try session.execute(Self.collecting["hold"]).isEmpty
  }

  // The row is locked while it is judged and its file removed: who publishes the same bytes waits, and links anew.
  private func collect(_ hash: SHA256Digest, into collected: inout Collected, _ session: Session) throws {
    let name = Parameter.bytes(hash.bytes)
    guard try !session.execute(Self.collecting["lock_blob"], name).isEmpty else { return }
    guard try session.execute(Self.collecting["is_referenced"], name).isEmpty else { return }
    let row = try session.execute(Self.collecting["drop_blob"], name).single()
    try blobs.remove(hash)
    collected.blobs += 1
    collected.bytes += try row.get("bytes", as: Int64.self)
  }
}
