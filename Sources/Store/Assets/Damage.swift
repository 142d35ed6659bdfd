package import Blobs
import CStoreSQL
package import Crypto
package import Model
import Platform
package import Postgres
import Queue

/// The record of damaged blobs.
package enum Damage {
  static let statements = Statements(topic: "damage", StoreSQL.Damage)

  /// Records that a blob is damaged; false if that is recorded already, or the blob is gone.
  package static func note(_ damage: BlobDamage, of hash: SHA256Digest, _ session: Session) throws(PostgresError)
    -> Bool
  {
    try !session.execute(Self.statements["insert_damage"], .bytes(hash.bytes), .text(damage.rawValue)).isEmpty
  }

  /// Claims damaged blobs that are due for a check; other workers skip them until their next check is due.
  package static func claim(limit: Int, _ session: Session) throws -> [DamagedBlob] {
    try session.execute(Self.statements["claim_damage"], .integer(limit)).map { row in
      guard let hash = SHA256Digest(bytes: try row.get("hash")) else {
        throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
      }
      return DamagedBlob(
        hash: hash, bytes: try row.get("bytes"), isMadeAgain: try row.get("is_made_again"))
    }
  }

  /// Sets a damaged blob aside if a part of it cannot be read.
  package static func setAside(_ hash: SHA256Digest, _ error: any Error, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["set_damage_aside"], .bytes(hash.bytes), .integer(SetAside.seconds))
    try SetAside.note(.blobDamage, hash.hex, error, session)
  }

  /// Records the run that makes a damaged blob again.
  package static func note(remaking hash: SHA256Digest, by run: PublicID, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["set_damage_run"], .bytes(hash.bytes), .text(run.description))
  }

  /// Records why a damaged blob cannot be made again; false if the same reason is recorded already.
  package static func note(
    lost hash: SHA256Digest, because reason: String, _ session: Session
  ) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["set_damage_error"], .bytes(hash.bytes), .text(reason)).isEmpty
  }

  /// Deletes the record of a blob's damage; false if there was none.
  @discardableResult
  package static func drop(of hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["drop_damage"], .bytes(hash.bytes)).isEmpty
  }
}

/// A blob that is recorded as damaged.
package struct DamagedBlob: Sendable, Hashable {
  package let hash: SHA256Digest
  /// The length in the blob's row.
  package let bytes: Int64
  /// Whether the run that makes it again is still active.
  package let isMadeAgain: Bool
}

extension SetAside.Table {
  static let blobDamage = Self("blob_damage")
}
