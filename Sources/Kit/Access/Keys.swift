import CKitSQL
import FoundationEssentials
package import Model
package import Platform
package import Postgres
import Queue
package import Store

/// API keys, and the keys that sign media URLs.
package enum Keys: Room {
  package static let statements = Statements(topic: "keys", KitSQL.Keys)

  /// With the tables of tokens and of tickets.
  package static let schema: [EmbeddedText] = [KitSQL.Access_schema]

  /// The time for which a key stays stored after its revocation, in seconds.
  private static let revokedRetention = 90.0 * 24 * 3600

  /// Inserts an API key by its hash, and returns its number.
  package static func insert(
    named name: String, hash: [UInt8], scopes: Set<Scope>, _ session: Session
  ) throws(PostgresError) -> Int64 {
    try session.execute(
      Self.statements["insert_api_key"], .text(name), .bytes(hash), .texts(scopes.map(\.rawValue).sorted())
    ).single().get("id")
  }

  /// Reads all API keys, including revoked ones, the oldest first.
  package static func list(_ session: Session) throws(PostgresError) -> [StoredKey] {
    var keys: [StoredKey] = []
    for row in try session.execute(Self.statements["api_keys"]) {
      let scopes = try row.get("scopes", as: String.self).utf8.split(separator: UInt8(ascii: " ")).compactMap {
        Scope(rawValue: String(decoding: $0, as: UTF8.self))
      }
      keys.append(
        StoredKey(
          id: try row.get("id"), name: try row.get("name"), hash: try row.get("hash"), scopes: Set(scopes),
          createdAt: Date(microseconds: try row.get("created_at")),
          revokedAt: try row.get("revoked_at", as: Int64?.self).map(Date.init(microseconds:))))
    }
    return keys
  }

  /// Revokes an API key; false if no valid key has this number.
  package static func revoke(_ id: Int64, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["revoke_api_key"], .integer(id)).isEmpty
  }

  /// Deletes the keys that were revoked some time ago, and returns their number. A key stays as long as a token or a ticket that it
  /// has made is stored, or something else that names it; the newest key stays.
  ///
  /// - Parameter rooms: all rooms; each `CredentialObserver` among them says what it names.
  package static func dropRevoked(in rooms: [any Room.Type], _ session: Session) throws -> Int {
    let revoked = try session.execute(Self.statements["long_revoked_keys"], .double(revokedRetention)).map {
      try $0.get("id", as: Int64.self)
    }
    let ids = try rooms.unnamed(keys: revoked, session)
    guard !ids.isEmpty else { return 0 }
    return try session.execute(Self.statements["drop_revoked_keys"], .integers(ids)).affected
  }

  /// The statement that revokes all API keys, for a script.
  package static var revocation: String { Self.statements["revoke_api_keys"].text }

  /// Reads the keys that media URLs are verified with; the first one signs. If there is none, a key is created in the
  /// caller's transaction.
  package static func signingKeys(_ session: Session) throws(PostgresError) -> [SigningKey] {
    let known = try readSigningKeys(session)
    if !known.isEmpty { return known }
    try session.execute(Self.statements["lock_signing_keys"])
    if try session.execute(Self.statements["signing_keys"]).isEmpty { try addSigningKey(session) }
    return try readSigningKeys(session)
  }

  /// Creates the key that signs from now on, in the caller's transaction.
  ///
  /// - Parameter seconds: the time for which URLs with earlier signatures stay valid.
  package static func rotateSigningKeys(keepingOld seconds: Double, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["lock_signing_keys"])
    try session.execute(Self.statements["retire_signing_keys"], .double(seconds))
    try session.execute(Self.statements["drop_signing_keys"])
    try addSigningKey(session)
  }

  private static func addSigningKey(_ session: Session) throws(PostgresError) {
    var random = SystemRandomNumberGenerator()
    let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    try session.execute(Self.statements["insert_signing_key"], .bytes(secret))
  }

  private static func readSigningKeys(_ session: Session) throws(PostgresError) -> [SigningKey] {
    var keys: [SigningKey] = []
    for row in try session.execute(Self.statements["signing_keys"]) {
      keys.append(SigningKey(id: try row.get("id"), secret: try row.get("secret")))
    }
    return keys
  }
}
