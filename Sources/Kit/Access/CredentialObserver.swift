package import Model
package import Postgres
package import Store

/// A room that stores what depends on a credential or on a user who is admitted. Each function runs in the transaction that it is about.
package protocol CredentialObserver: Room {
  /// These user tokens are revoked.
  static func revoked(tokens: [PublicID], _ session: Session) throws

  /// A user is suspended.
  static func suspended(user: String, _ session: Session) throws
}

extension [any Room.Type] {
  private var credentialObservers: [any CredentialObserver.Type] { compactMap { $0 as? any CredentialObserver.Type } }

  /// Reports to the rooms that observe it that these user tokens are revoked.
  func report(revoked tokens: [PublicID], _ session: Session) throws {
    for room in credentialObservers { try room.revoked(tokens: tokens, session) }
  }

  /// The same for a user who is suspended.
  package func report(suspended user: String, _ session: Session) throws {
    for room in credentialObservers { try room.suspended(user: user, session) }
  }
}
