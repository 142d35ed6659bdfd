import Blobs
import CStoreSQL
package import Crypto
package import Model
package import Postgres
import Queue

/// The move of the blobs to another store. From its beginning until its end a process that writes to one store alone is refused.
package enum Moving {
  static let statements = Statements(topic: "moving", StoreSQL.Moving)

  /// Begins a move, or goes on with it: when this transaction has ended, all blobs that are inserted are written to both stores.
  ///
  /// Call it in a transaction of its own; it waits for all that insert blobs.
  ///
  /// - Returns: false if the blobs move to another store, or are in this one.
  package static func begin(to id: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.statements["lock_writers"])
    return try !session.execute(Self.statements["begin_move"], .text(id.description)).isEmpty
  }

  /// Ends a move: from now on the database uses the next store.
  ///
  /// - Returns: false if there is no such move.
  package static func finish(to id: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["finish_move"], .text(id.description)).isEmpty
  }

  /// Cancels a move: the blobs stay where they are. Returns false if there is none.
  package static func cancel(_ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["cancel_move"]).isEmpty
  }

  /// The stores of the database; nil before the first use.
  package static func storeIDs(_ session: Session) throws(PostgresError) -> BlobStoreIDs? {
    guard let row = try session.execute(Self.statements["store_ids"]).first else { return nil }
    return BlobStoreIDs(
      current: try row.publicID("id"), next: try row.get("next_id", as: String?.self).flatMap { PublicID($0) },
      previous: try row.get("previous_id", as: String?.self).flatMap { PublicID($0) })
  }

  /// The blobs that are files and whose hashes begin with a byte, with their lengths.
  package static func files(ofShard shard: UInt8, _ session: Session) throws -> [SHA256Digest: Int64] {
    let end: [UInt8]? = shard == .max ? nil : [shard + 1]
    var files: [SHA256Digest: Int64] = [:]
    for row in try session.execute(Self.statements["files_of_shard"], .bytes([shard]), .bytes(end)) {
      guard let hash = SHA256Digest(bytes: try row.get("hash")) else { continue }
      files[hash] = try row.get("bytes", as: Int64.self)
    }
    return files
  }

  /// Whether a blob exists and is a file.
  package static func isFile(_ hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["is_file"], .bytes(hash.bytes)).isEmpty
  }
}

/// The ids of the stores that a database knows.
package struct BlobStoreIDs: Sendable, Hashable {
  /// The store of the blobs.
  package let current: PublicID
  /// The store that the blobs move to; nil: they do not move.
  package let next: PublicID?
  /// The store that they came from; nil: they never moved.
  package let previous: PublicID?
}
