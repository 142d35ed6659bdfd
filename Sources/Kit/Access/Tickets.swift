package import Crypto
package import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// Tickets for streams of events, which a web page cannot open with a header field.
package enum Tickets {
  /// The time for which a ticket is valid, in seconds.
  package static let lifetime = 60.0

  /// Inserts a ticket by its hash, and returns its expiry.
  ///
  /// - Throws: `ForgottenRefusal`.
  package static func insert(_ ticket: EventTicket, hash: SHA256Digest, _ session: Session) throws -> Date {
    try Store.requireUsers(ticket.user, in: session)
    var key: Int64?
    if case .key(let id) = ticket.minter { key = id }
    let row = try session.execute(
      Keys.statements["insert_ticket"], .bytes(hash.bytes), .text(ticket.user), .text(ticket.token?.description),
      .text(ticket.minter.name), .integer(key), .double(Self.lifetime),
      .bytes(ticket.identity?.key.bytes), .integer(ticket.identity.map { Int64($0.expires) })
    ).single()
    return Date(microseconds: try row.get("expires_at"))
  }

  /// Takes a ticket, which is valid once; nil if it does not exist, was used or has expired.
  package static func take(hash: SHA256Digest, _ session: Session) throws -> EventTicket? {
    let taken = try session.execute(Keys.statements["take_ticket"], .bytes(hash.bytes))
    guard let row = taken.first, try row.get("is_valid", as: Bool.self) else { return nil }
    let user = try row.get("user_id", as: String.self)
    var identity: IdentityToken?
    if let signer = try row.get("signer", as: [UInt8]?.self).flatMap({ SHA256Digest(bytes: $0) }) {
      identity = IdentityToken(user: user, expires: try row.get("signer_expires"), key: signer)
    }
    return EventTicket(
      user: user, token: try row.get("token", as: String?.self).flatMap { PublicID($0) },
      minter: try UserToken.Minter(row), identity: identity)
  }
}

/// A ticket: for whom its stream is, and the credential of the client that got it. The stream ends with that credential.
package struct EventTicket: Sendable, Hashable {
  package let user: String
  /// The user token of the client; nil: it had another credential.
  package let token: PublicID?
  package let minter: UserToken.Minter
  /// What the identity provider has said of the client; nil: it had another credential.
  package let identity: IdentityToken?

  package init(user: String, token: PublicID?, minter: UserToken.Minter, identity: IdentityToken? = nil) {
    self.user = user
    self.token = token
    self.minter = minter
    self.identity = identity
  }
}
