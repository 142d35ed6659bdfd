internal import Crypto
import FoundationEssentials
internal import Kit
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// Sessions that go on as long as they are renewed: each refresh token is used once (RFC 9700, section 4.14.2).
enum RenewableSession {
  /// The tokens of a session, which only its client gets.
  struct IssuedTokens: Sendable {
    let stored: UserToken
    let access: String
    let accessExpiry: Date
    let refresh: RefreshToken
  }

  /// What a request for the next tokens leads to.
  enum Renewal: Sendable {
    case tokens(IssuedTokens)
    /// The session was ended, because the token was used before.
    case ended(UserToken)
  }

  /// Makes a token of an account the session of its refresh tokens.
  ///
  /// - Parameter seconds: the lifetime of access tokens.
  static func begin(
    _ stored: UserToken, _ refresh: RefreshToken, access: String, seconds: Int, _ session: Session
  ) throws -> IssuedTokens {
    let secret = SHA256.digest(of: Array(Kit.newSecret("").utf8)).bytes
    let row = try session.execute(
      Accounts.statements["insert_renewable_session"], .text(stored.id.description), .bytes(secret),
      .bytes(refresh.hash.bytes), .integer(seconds), .double(Double(RefreshChain.maxLifetime)), .bytes(hash(access))
    ).single()
    return IssuedTokens(stored: stored, access: access, accessExpiry: try expiry(row), refresh: refresh)
  }

  /// Renews a session, or ends it; nil if it does not exist or has ended. The transaction must commit.
  ///
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  static func renew(by token: RefreshToken, _ session: Session) throws -> Renewal? {
    guard let stored = try Tokens.find(hash: token.sessionHash, session) else { return nil }
    try Store.requireUsers(stored.user, in: session)
    let id = Parameter.text(stored.id.description)
    guard let row = try session.execute(Accounts.statements["lock_renewable_session"], id).first else { return nil }
    let chain = RefreshChain(
      current: try row.get("current"), former: try row.get("former"), age: try row.get("age"),
      isUsed: try row.get("is_used"))
    let next = token.next(try row.get("secret"))
    let renewed: Row?
    switch chain.step(after: token.hash.bytes) {
    case .renewal:
      renewed = try session.execute(
        Accounts.statements["renew_session"], id, .bytes(next.refresh.hash.bytes), .bytes(hash(next.access)),
        .double(Double(RefreshChain.idleLifetime))
      ).first
      try session.execute(Accounts.statements["drop_surplus_access_tokens"], id)
    case .repetition:
      renewed = try session.execute(Accounts.statements["repeat_access_token"], .bytes(hash(next.access))).first
    case .end:
      _ = try Tokens.revoke(stored.id, of: stored.user, in: .all, session) { _ in }
      return .ended(stored)
    }
    return try renewed.map {
      .tokens(IssuedTokens(stored: stored, access: next.access, accessExpiry: try expiry($0), refresh: next.refresh))
    }
  }

  private static func expiry(_ row: Row) throws -> Date { Date(microseconds: try row.get("expires_at")) }

  private static func hash(_ access: String) -> [UInt8] { SHA256.digest(of: Array(access.utf8)).bytes }
}
