import Blobs
import CStoreSQL
package import Crypto
package import FoundationEssentials
import Model
import Platform
package import Postgres
import Queue

/// The removal of blobs that nothing refers to.
package struct Collecting: Sendable {
  static let statements = Statements(topic: "collecting", StoreSQL.Collecting)

  let blobs: any BlobStore
  /// The time from the release of a blob to its removal. A standby that is promoted without the last commits refers to what they have
  /// released.
  package let pause: Duration
  /// The minimum free space of the blob store in bytes.
  let minFree: Int64

  /// Removes released blobs that nothing refers to any more and whose pause has ended, and what other processes began to remove and left.
  /// During a hold it begins no removal, and as long as the blobs are not open it does nothing: what cannot be removed keeps its row.
  ///
  /// Call it after the commit of the transaction that released them: the removal of a file cannot be rolled back, but the
  /// removal of a reference can.
  @discardableResult
  package func collectReleased(limit: Int = 100, _ pool: Pool) async throws -> Collected {
    try await collectReleased(before: pause, limit: limit, pool)
  }

  /// Removes released blobs before their pause has ended, the oldest first, until the free space is no longer near its minimum: four times
  /// that, as `Take5StorageLow` has it. What another machine has takes no space here.
  ///
  /// It waits for a disk: call it where no request waits.
  package func makeRoom(_ pool: Pool) async throws {
    guard pause > .zero, minFree > 0, !blobs.isRemote else { return }
    while try await isNearlyFull() {
      if try await collectReleased(before: .zero, limit: Self.roomBatch, pool).examined == 0 { return }
      try Task.checkCancellation()
    }
  }

  private func isNearlyFull() async throws -> Bool {
    try await onThread("collect") { [blobs, minFree] in
      // The product with any minimum could overflow.
      try blobs.freeBytes().map { $0 / Self.nearMinFree < minFree } ?? false
    }
  }

  /// The number of blobs after whose removal the free space is asked for again.
  private static let roomBatch = 100

  /// The multiple of the minimum below which free space is near it.
  private static let nearMinFree: Int64 = 4

  private func collectReleased(before pause: Duration, limit: Int, _ pool: Pool) async throws -> Collected {
    // Blobs that are not open yet have no id.
    guard !blobs.ids.isEmpty else { return Collected() }
    let (removals, examined) = try await pool.transaction { session in
      var removals = try overdueRemovals(limit: limit, session)
      var examined = removals.blobs.count
      examined += try beginRemoval(ofReleased: limit, before: pause, into: &removals, session)
      return (removals, examined)
    }
    var collected = try await finish(removals, pool)
    collected.examined = examined
    return collected
  }

  /// Removes the given blobs that nothing refers to, whether they were released or not. During a hold it removes
  /// nothing.
  package func collect(_ hashes: [SHA256Digest], _ pool: Pool) async throws -> Collected {
    var collected = try await finish(pool.transaction { session in try beginRemoval(of: hashes, session) }, pool)
    collected.examined = hashes.count
    return collected
  }

  /// Removes a file of the blob store that has no row; returns false if it has one, or during a hold.
  ///
  /// It inserts the missing row first: it waits for a transaction that has published the same bytes and not yet committed, and a later
  /// one publishes them again.
  ///
  /// - Parameter bytes: the length of the file.
  package func collectOrphan(_ hash: SHA256Digest, bytes: Int64, _ pool: Pool) async throws -> Bool {
    let removals = try await pool.transaction { session in
      var removals = BlobRemovals()
      guard try mayCollect(session), try claim(hash, bytes: bytes, session) else { return removals }
      try session.execute(Self.statements["drop_blob"], .bytes(hash.bytes))
      try begin(hash, bytes: bytes, into: &removals, session)
      return removals
    }
    return try await finish(removals, pool).files > 0
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
        let claimed = try session.execute(Self.statements["claim_blob"], .bytes(hash.bytes), .integer(bytes))
        guard !claimed.isEmpty else { return false }
        let references = try session.execute(Self.statements["is_referenced"], .bytes(hash.bytes))
        guard references.isEmpty else { throw Referenced() }
        return true
      }
    } catch is Referenced {
      return false
    }
  }

  // A true result stays valid until the transaction ends: a new hold waits for the lock.
  private func mayCollect(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.statements["lock_collecting_shared"])
    return try session.execute(Self.statements["hold"]).isEmpty
  }

  private func beginRemoval(
    ofReleased limit: Int, before pause: Duration, into removals: inout BlobRemovals, _ session: Session
  ) throws -> Int {
    let rows = try session.execute(
      Self.statements["examine_released"], .integer(limit), .double(pause / .seconds(1)))
    var released: [Int64] = []
    for row in rows where try !row.get("stays", as: Bool.self) { released.append(try row.get("id")) }
    if released.isEmpty { return rows.count }
    // Without it the blobs stay released.
    guard try mayCollect(session) else { return 0 }
    var hashes: Set<SHA256Digest> = []
    for row in try session.execute(Self.statements["drop_released"], .integers(released)) {
      if let hash = SHA256Digest(bytes: try row.get("hash")) { hashes.insert(hash) }
    }
    try beginRemoval(of: hashes, into: &removals, session)
    return rows.count
  }

  // All writers lock blobs in the order of their hashes. The row is locked before its references are looked for.
  private func beginRemoval(
    of hashes: some Sequence<SHA256Digest>, into removals: inout BlobRemovals, _ session: Session
  ) throws {
    for hash in hashes.sorted() {
      let name = Parameter.bytes(hash.bytes)
      guard try !session.execute(Self.statements["lock_blob"], name).isEmpty,
        try session.execute(Self.statements["is_referenced"], name).isEmpty
      else { continue }
      let row = try session.execute(Self.statements["drop_blob"], name).single()
      try begin(hash, bytes: row.get("bytes"), into: &removals, session)
    }
  }

  private func begin(
    _ hash: SHA256Digest, bytes: Int64, into removals: inout BlobRemovals, _ session: Session
  ) throws(PostgresError) {
    let rows = try session.execute(Self.statements["insert_removal"], .bytes(hash.bytes), .integer(bytes))
    if let row = rows.first { removals.blobs.append((try row.get("id"), hash, bytes)) }
  }
}

/// The removal of content from the blob store. A transaction begins it, and when that has been committed it is performed without one:
/// until its end a transaction that writes the same blob is repeated.
extension Collecting {
  /// The time from the beginning of a removal within which it reaches the blob store.
  private static let removalTime = Duration.seconds(20)

  /// The time after which another process performs the removal again. What has reached the blob store in time has ended by then.
  private static let overdueSeconds = 60.0

  /// The number of blobs after whose removal their writers go on.
  private static let removedTogether = 16

  /// Begins the removal of the given blobs that nothing refers to, unless there is a hold, and drops their rows. Pass the
  /// result to `finish` after the commit.
  package func beginRemoval(of hashes: [SHA256Digest], _ session: Session) throws -> BlobRemovals {
    var removals = BlobRemovals()
    guard try mayCollect(session) else { return removals }
    try beginRemoval(of: hashes, into: &removals, session)
    return removals
  }

  /// Begins the removal of the content of a blob whose row, which the caller has locked, stays. Pass the result to `finish` after the
  /// commit.
  package func beginRemoval(ofContent hash: SHA256Digest, _ session: Session) throws(PostgresError) -> BlobRemovals {
    var removals = BlobRemovals()
    try begin(hash, bytes: 0, into: &removals, session)
    return removals
  }

  /// Performs removals whose transaction has been committed. Those that fail, or are not reached in time, are performed by
  /// `collectReleased` later.
  @discardableResult
  package func finish(_ removals: BlobRemovals, _ pool: Pool) async throws -> Collected {
    var collected = Collected()
    var rest = removals.blobs[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.removedTogether)
      rest = rest.dropFirst(part.count)
      let (ended, removed, failure) = try await onThread("collect") { [blobs] in
        var ended: [Int64] = []
        var removed = Collected()
        do {
          // Another process may perform what is late, and a writer publish the blob after that.
          for blob in part where removals.begunAt.duration(to: .now) < Self.removalTime {
            if try blobs.remove(blob.hash) { removed.files += 1 }
            removed.blobs += 1
            removed.bytes &+= blob.bytes
            ended.append(blob.removal)
          }
          return (ended, removed, nil as (any Error)?)
        } catch {
          return (ended, removed, error)
        }
      }
      if !ended.isEmpty {
        try await pool.run { session in
          _ = try session.execute(Self.statements["end_removals"], .integers(ended))
        }
      }
      collected += removed
      if let failure { throw failure }
    }
    return collected
  }

  private func overdueRemovals(limit: Int, _ session: Session) throws -> BlobRemovals {
    var removals = BlobRemovals()
    let rows = try session.execute(
      Self.statements["take_overdue_removals"], .double(Self.overdueSeconds), .integer(limit))
    for row in rows {
      guard let hash = SHA256Digest(bytes: try row.get("hash")) else { continue }
      removals.blobs.append((try row.get("id"), hash, try row.get("bytes")))
    }
    return removals
  }
}

/// The hold on collecting: until it ends no process removes a blob, so that a dump and a later copy of the blobs are
/// consistent.
extension Collecting {
  /// Starts or prolongs the hold, and returns its end.
  ///
  /// It waits for the transactions of collectors that are running. All blobs that a snapshot of the database after the commit refers to
  /// stay until the hold ends: what these have decided to remove has no row any more.
  package static func hold(for duration: Duration, _ session: Session) throws -> Date {
    try session.execute(Self.statements["lock_collecting"])
    let row = try session.execute(Self.statements["insert_hold"], .double(duration / .seconds(1))).single()
    return Date(microseconds: try row.get("ends_at"))
  }

  /// Ends the hold; false if there was none.
  package static func releaseHold(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.statements["drop_hold"]).first?.get("was_held") ?? false
  }

  /// Ends the hold that ends at a time, unless another process has prolonged it since.
  package static func releaseHold(heldUntil end: Date, _ session: Session) throws(PostgresError) {
    let microseconds = end.microseconds
    try session.execute(Self.statements["drop_own_hold"], .timestamp(microseconds: microseconds))
  }

  /// Returns the end of the hold; nil: there is none.
  package static func currentHold(_ session: Session) throws -> Date? {
    try session.execute(Self.statements["hold"]).first.map { Date(microseconds: try $0.get("ends_at")) }
  }
}

/// Removals of content, which a transaction begins.
package struct BlobRemovals: Sendable {
  typealias Blob = (removal: Int64, hash: SHA256Digest, bytes: Int64)

  fileprivate(set) var blobs: [Blob] = []
  /// A time before the first of them began.
  var begunAt = ContinuousClock.now
}

/// The result of a collection.
package struct Collected: Sendable, Hashable {
  /// The number of blobs that were examined.
  package var examined = 0
  /// The number of blobs that were removed.
  package var blobs = 0
  /// The number of them that the blob store had.
  package var files = 0
  /// The total size of the removed blobs.
  package var bytes: Int64 = 0

  package static func += (sum: inout Collected, other: Collected) {
    sum.examined += other.examined
    sum.blobs += other.blobs
    sum.files += other.files
    sum.bytes &+= other.bytes
  }
}
