package import Blobs
package import Crypto
package import Model
package import Postgres
import Queue

/// Blobs that were found to be damaged, until their right bytes are there again.
extension Store {
  /// Notes that a blob is damaged; false where that is known already, or the blob is gone.
  package func note(_ damage: BlobDamage, of hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.damageStatements["note_damage"], .bytes(hash.bytes), .text(damage.rawValue)).isEmpty
  }

  /// Takes some damaged blobs that are to be looked at; others leave them alone for a while.
  package func takeDamaged(limit: Int, _ session: Session) throws -> [DamagedBlob] {
    try session.execute(Self.damageStatements["take_damage"], .integer(limit)).map { row in
      guard let hash = SHA256Digest(bytes: try row.get("hash")) else {
        throw PostgresError(.decoding, "a blob's name is not a SHA-256")
      }
      return DamagedBlob(
        hash: hash, bytes: try row.get("bytes"), isMadeAgain: try row.get("is_made_again"))
    }
  }

  /// Notes the run by which a damaged blob is to be made again.
  package func note(remaking hash: SHA256Digest, by run: PublicID, _ session: Session) throws(PostgresError) {
    try session.execute(Self.damageStatements["note_remaking"], .bytes(hash.bytes), .text(run.description))
  }

  /// Notes why a damaged blob cannot be made again; false where that is known already.
  package func note(
    lost hash: SHA256Digest, because reason: String, _ session: Session
  ) throws(PostgresError) -> Bool {
    try !session.execute(Self.damageStatements["note_lost"], .bytes(hash.bytes), .text(reason)).isEmpty
  }

  /// A blob is whole again, or nobody's concern; false if it was so before.
  @discardableResult
  package func dropDamage(of hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.damageStatements["drop_damage"], .bytes(hash.bytes)).isEmpty
  }
}
