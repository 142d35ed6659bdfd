import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Who may ask, and what media URLs are signed with.
extension Store {
  /// Keeps a new API key by its hash; its number.
  package func keep(
    keyNamed name: String, hash: [UInt8], scopes: Set<Scope>, _ session: Session
  ) throws(PostgresError) -> Int64 {
    try session.execute(
      Self.statements["keep_api_key"], .text(name), .bytes(hash), .texts(scopes.map(\.rawValue).sorted())
    ).single().get("id")
  }

  /// All API keys, revoked ones included, the oldest first.
  package func apiKeys(_ session: Session) throws(PostgresError) -> [StoredKey] {
    var keys: [StoredKey] = []
    for row in try session.execute(Self.statements["api_keys"]) {
      let scopes = try row.get("scopes", as: String.self).split(separator: " ").compactMap {
        Scope(rawValue: String($0))
      }
      keys.append(
        StoredKey(
          id: try row.get("id"), name: try row.get("name"), hash: try row.get("hash"), scopes: Set(scopes),
          createdAt: Date(microseconds: try row.get("created_at")),
          revokedAt: try row.get("revoked_at", as: Int64?.self).map(Date.init(microseconds:))))
    }
    return keys
  }

  /// Revokes an API key; false if there is none of this number that was not revoked before.
  package func revoke(key id: Int64, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["revoke_api_key"], .integer(id)).isEmpty
  }

  /// The secrets that media URLs are judged by, the one that signs first; it is made here where there is none, in the
  /// caller's transaction.
  package func signingKeys(_ session: Session) throws(PostgresError) -> [SigningKey] {
    let known = try readSigningKeys(session)
    if !known.isEmpty { return known }
    try session.execute(Self.statements["lock_signing_keys"])
    if try session.execute(Self.statements["signing_keys"]).isEmpty { try addSigningKey(session) }
    return try readSigningKeys(session)
  }

  /// Signs with a new secret from now on, in the caller's transaction.
  ///
  /// - Parameter seconds: for how long URLs that were signed before stay good; 0: not at all.
  package func rotateSigningKeys(keepingOld seconds: Double, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["lock_signing_keys"])
    try session.execute(Self.statements["retire_signing_keys"], .double(seconds))
    try session.execute(Self.statements["drop_signing_keys"])
    try addSigningKey(session)
  }

  private func addSigningKey(_ session: Session) throws(PostgresError) {
    var random = SystemRandomNumberGenerator()
    let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    try session.execute(Self.statements["keep_signing_key"], .bytes(secret))
  }

  private func readSigningKeys(_ session: Session) throws(PostgresError) -> [SigningKey] {
    var keys: [SigningKey] = []
    for row in try session.execute(Self.statements["signing_keys"]) {
      keys.append(SigningKey(id: try row.get("id"), secret: try row.get("secret")))
    }
    return keys
  }
}
