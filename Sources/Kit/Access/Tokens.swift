import CKitSQL
package import Crypto
import FoundationEssentials
package import Model
package import Postgres
package import Queue
package import Store

/// User tokens.
package enum Tokens: Room {
  package static let statements = Statements(topic: "tokens", KitSQL.Tokens)

  package static var maintenance: [MaintenanceTask] { [MaintenanceTask("tokens", deleting: dropExpired)] }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        mention: "EXISTS (SELECT FROM user_token WHERE user_id = $1)", atEnd: statements["drop_tokens_of_user"])
    ]
  }

  /// The time for which an expired token stays stored, in seconds.
  private static let tokenRetention = 24.0 * 3600

  /// Inserts a token by its hash.
  ///
  /// - Parameters:
  ///   - lifetime: in seconds.
  ///   - device: what the user calls the device that gets it.
  /// - Throws: `ForgottenRefusal`.
  package static func insert(
    of user: String, hash: SHA256Digest, minter: UserToken.Minter, grant: UploadGrant?, lifetime: Int,
    device: String? = nil, _ session: Session
  ) throws -> UserToken {
    try Store.requireUsers(user, in: session)
    var key: Int64?
    if case .key(let id) = minter { key = id }
    let row = try session.execute(
      Self.statements["insert_user_token"], .text(PublicID.now().description), .text(user), .bytes(hash.bytes),
      .text(minter.name), .integer(key), .text(try grant.map { try JSON.text($0) }), .double(Double(lifetime)),
      .text(device)
    ).single()
    return try UserToken(row)
  }

  /// Reads a valid token; nil if it does not exist, has expired or was revoked, or its API key was.
  package static func find(_ id: PublicID, _ session: Session) throws -> UserToken? {
    try session.execute(Self.statements["user_token"], .text(id.description)).first.map(UserToken.init)
  }

  /// Reads a valid token by its hash.
  package static func find(hash: SHA256Digest, _ session: Session) throws -> UserToken? {
    try session.execute(Self.statements["user_token_of_hash"], .bytes(hash.bytes)).first.map(UserToken.init)
  }

  /// Reads any valid token of a user that none of these minters has minted.
  package static func find(of user: String, notMintedBy minters: Set<String>, _ session: Session) throws -> UserToken? {
    try session.execute(
      Self.statements["user_token_of_user"], .text(user), .texts(minters.sorted())
    ).first.map(UserToken.init)
  }

  /// Reads a page of a user's valid tokens, the newest first.
  ///
  /// - Parameter withGrants: whether those that are limited to one submission are among them.
  package static func list(
    of user: String, withGrants: Bool = true, _ page: PageRequest, _ session: Session
  ) throws -> Page<UserToken> {
    let rows = try session.execute(
      Self.statements["user_tokens"], [.text(user)] + page.parameters + [.bool(withGrants)])
    return try Page(rows, page) { try $0.map(UserToken.init) }
  }

  /// The time after which another use of a token is noted, in seconds.
  static let noted = 3600.0

  /// Notes that tokens were used, by their hashes.
  static func noteUses(of hashes: [SHA256Digest], _ session: Session) throws {
    try session.execute(Self.statements["note_uses"], .byteStrings(hashes.map(\.bytes)), .double(noted))
  }

  /// Revokes a token of a user, and what depends on it; false if the user has no such token.
  ///
  /// - Parameters:
  ///   - rooms: all rooms, of which each `CredentialObserver` learns of it.
  ///   - check: receives the locked token; the caller must roll back if it throws.
  package static func revoke(
    _ id: PublicID, of user: String, in rooms: [any Room.Type], _ session: Session, check: (UserToken) throws -> Void
  ) throws -> Bool {
    let revoked = try session.execute(
      Self.statements["revoke_user_token"], .text(id.description), .text(user))
    try revoked.first.map { try check(UserToken($0)) }
    if !revoked.isEmpty { try rooms.report(revoked: [id], session) }
    return !revoked.isEmpty
  }

  /// Revokes the tokens of a user, all or all but one, and what depends on them, and returns their ids.
  ///
  /// - Parameter rooms: all rooms, of which each `CredentialObserver` learns of it.
  package static func revokeAll(
    of user: String, except kept: PublicID? = nil, in rooms: [any Room.Type], _ session: Session
  ) throws -> [PublicID] {
    let revoked = try session.execute(
      Self.statements["revoke_user_tokens"], .text(user), .text(kept?.description)
    ).map { try $0.publicID("public_id") }
    try rooms.report(revoked: revoked, session)
    return revoked
  }

  /// Uses the grant of a token in the transaction of its submission; false if another submission has used it, or if the
  /// token was revoked.
  package static func useGrant(of token: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["use_grant"], .text(token.description)).isEmpty
  }

  /// Deletes up to 1000 tokens that expired some time ago, and returns their number.
  package static func dropExpired(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Self.statements["drop_expired_user_tokens"], .double(Self.tokenRetention)).affected
  }

  /// Returns the user tokens among those given that are valid.
  package static func valid(among ids: [PublicID], _ session: Session) throws -> Set<PublicID> {
    let rows = try session.execute(Self.statements["valid_user_tokens"], .texts(ids.map(\.description)))
    return Set(try rows.map { try $0.publicID("public_id") })
  }
}

extension UserToken {
  fileprivate init(_ row: Row) throws {
    let hasGrant = try row.get("upload_grant", as: String?.self) != nil
    self.init(
      id: try row.publicID("public_id"), user: try row.get("user_id"), hash: try row.get("hash"),
      minter: try Minter(row),
      grant: try hasGrant ? row.json("upload_grant") : nil,
      createdAt: Date(microseconds: try row.get("created_at")),
      expiresAt: Date(microseconds: try row.get("expires_at")),
      usedAt: try row.get("used_at", as: Int64?.self).map(Date.init(microseconds:)),
      device: try row.get("device"),
      lastUsedAt: try row.get("last_used_at", as: Int64?.self).map(Date.init(microseconds:)))
  }
}

extension UserToken.Minter {
  /// Reads the columns `minter` and `api_key_id`.
  init(_ row: Row) throws(PostgresError) {
    switch try row.get("minter", as: String.self) {
    case Self.operatorKey.name: self = .operatorKey
    case Self.anybody.name: self = .anybody
    case Self.account.name: self = .account
    case let name:
      guard let key = try row.get("api_key_id", as: Int64?.self) else {
        throw PostgresError(.decoding, "unknown minter '\(name)'")
      }
      self = .key(key)
    }
  }

  /// The value in the database.
  var name: String {
    switch self {
    case .key: "key"
    case .operatorKey: "operator"
    case .anybody: "anybody"
    case .account: "account"
    }
  }
}
