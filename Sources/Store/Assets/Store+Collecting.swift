import Blobs
package import Crypto
package import FoundationEssentials
import Platform
package import Postgres
import Queue

/// The removal of blobs that nothing refers to.
extension Store {
  static let collecting = Statements(topic: "collecting", PackageResources.Collecting_sql)

  /// Removes released blobs that nothing refers to any more. During a hold it removes nothing.
  ///
  /// Call it after the commit of the transaction that released them: the removal of a file cannot be rolled back, but the
  /// removal of a reference can. That holds for a failover as well, after which a standby knows what it has received alone: so
  /// one transaction finds the blobs and waits for the standbys, and another removes them.
  @discardableResult
  package func collectReleased(limit: Int = 100, _ pool: Pool) async throws -> Collected {
    let released = try await pool.transaction { session in try self.released(limit: limit, session) }
    if released.entries.isEmpty { return Collected(examined: released.examined) }
    return try await pool.transaction { session in try collect(released, session) }
  }

  /// Finds released blobs that nothing refers to. When the transaction, which must be one of its own, has been committed, the
  /// standbys know that, too.
  package func released(limit: Int, _ session: Session) throws -> ReleasedBlobs {
    let rows = try session.execute(Self.collecting["examine_released"], .integer(limit))
    var released = ReleasedBlobs(examined: rows.count)
    for row in rows where try !row.get("is_referenced", as: Bool.self) { released.entries.append(try row.get("id")) }
    if !released.entries.isEmpty { try awaitStandbys(session) }
    return released
  }

  /// Removes released blobs that nothing refers to still.
  ///
  /// Call it in a transaction of its own. If that is rolled back, a row without a reference may exist without its file until the
  /// next call; a writer that inserts the same blob publishes the file again.
  package func collect(_ released: ReleasedBlobs, _ session: Session) throws -> Collected {
    var collected = Collected(examined: released.examined)
    // Without it the blobs stay released.
    guard try mayCollect(session) else { return Collected() }
    var hashes: Set<SHA256Digest> = []
    for row in try session.execute(Self.collecting["take_released"], .integers(released.entries)) {
      if let hash = SHA256Digest(bytes: try row.get("hash")) { hashes.insert(hash) }
    }
    // All writers lock blobs in the order of their hashes.
    for hash in hashes.sorted() { try collect(hash, into: &collected, session) }
    return collected
  }

  /// Makes the commit of this transaction wait until the synchronous standbys have received all that it has seen.
  package func awaitStandbys(_ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["await_standbys"])
  }

  /// Removes the given blobs that nothing refers to, whether they were released or not. During a hold it removes
  /// nothing.
  ///
  /// Call it in a transaction of its own, after one that has found the blobs and has called `awaitStandbys`.
  package func collect(_ hashes: [SHA256Digest], _ session: Session) throws -> Collected {
    var collected = Collected(examined: hashes.count)
    guard try mayCollect(session) else { return collected }
    for hash in hashes.sorted() { try collect(hash, into: &collected, session) }
    return collected
  }

  /// Removes a file of the blob store that has no row; returns false if it has one, or during a hold.
  ///
  /// Call it in a transaction of its own. It inserts the missing row first: it waits for a transaction that has
  /// published the same bytes and not yet committed, and a later one publishes them again.
  ///
  /// - Parameter bytes: the length of the file.
  package func collectOrphan(_ hash: SHA256Digest, bytes: Int64, _ session: Session) throws -> Bool {
    guard try mayCollect(session), try claim(hash, bytes: bytes, session) else { return false }
    try session.execute(Self.collecting["drop_blob"], .bytes(hash.bytes))
    return try blobs.remove(hash)
  }

  /// Whether a file of the blob store has no row and nothing refers to it. Changes nothing.
  package func isOrphan(_ hash: SHA256Digest, _ pool: Pool) async throws -> Bool {
    struct RollBack: Error {}
    do {
      try await pool.transaction { session in
        if try claim(hash, bytes: 0, session) { throw RollBack() }
      }
      return false
    } catch is RollBack {
      // The file may be gone by now: another process collected it.
      return try await onThread("blobs") { [blobs] in try blobs.contains(hash) }
    }
  }

  // Inserts the missing row; false if the row exists, or if something refers to the blob.
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

  // A true result stays valid until the transaction ends: a new hold waits for the lock.
  private func mayCollect(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.collecting["lock_collecting_shared"])
    return try session.execute(Self.collecting["hold"]).isEmpty
  }

  // The row stays locked until its file is removed: a writer of the same bytes waits, and publishes the file again.
  private func collect(_ hash: SHA256Digest, into collected: inout Collected, _ session: Session) throws {
    let name = Parameter.bytes(hash.bytes)
    guard try !session.execute(Self.collecting["lock_blob"], name).isEmpty else { return }
    guard try session.execute(Self.collecting["is_referenced"], name).isEmpty else { return }
    let row = try session.execute(Self.collecting["drop_blob"], name).single()
    try blobs.remove(hash)
    collected.blobs += 1
    collected.bytes &+= try row.get("bytes", as: Int64.self)
  }
}

/// The hold on collecting: until it ends no process removes a blob, so that a dump and a later copy of the blobs are
/// consistent.
extension Store {
  /// Starts or prolongs the hold, and returns its end.
  ///
  /// It waits for collectors that are running. All blobs that a snapshot of the database after the commit refers to
  /// stay until the hold ends.
  package func holdCollecting(for duration: Duration, _ session: Session) throws -> Date {
    try session.execute(Self.collecting["lock_collecting"])
    let row = try session.execute(Self.collecting["insert_hold"], .double(duration / .seconds(1))).single()
    return Date(microseconds: try row.get("ends_at"))
  }

  /// Ends the hold; false if there was none.
  package func releaseCollecting(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.collecting["drop_hold"]).first?.get("was_held") ?? false
  }

  /// Ends the hold that ends at a time, unless another process has prolonged it since.
  package func releaseCollecting(heldUntil end: Date, _ session: Session) throws(PostgresError) {
    let microseconds = Int64((end.timeIntervalSince1970 * 1e6).rounded())
    try session.execute(Self.collecting["drop_own_hold"], .timestamp(microseconds: microseconds))
  }

  /// Returns the end of the hold; nil: there is none.
  package func collectingHold(_ session: Session) throws -> Date? {
    try session.execute(Self.collecting["hold"]).first.map { Date(microseconds: try $0.get("ends_at")) }
  }
}

/// Blobs that were released.
package struct ReleasedBlobs: Sendable, Hashable {
  /// The number of releases that were examined.
  let examined: Int
  /// Those of blobs without a reference.
  var entries: [Int64] = []
}

/// The result of a collection.
package struct Collected: Sendable, Hashable {
  /// The number of blobs that were examined.
  package var examined = 0
  /// The number of blobs that were removed.
  package var blobs = 0
  /// The total size of the removed blobs.
  package var bytes: Int64 = 0

  package static func += (sum: inout Collected, other: Collected) {
    sum.examined += other.examined
    sum.blobs += other.blobs
    sum.bytes &+= other.bytes
  }
}
