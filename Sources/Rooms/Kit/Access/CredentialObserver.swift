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
  var credentialObservers: [any CredentialObserver.Type] { compactMap { $0 as? any CredentialObserver.Type } }
}
