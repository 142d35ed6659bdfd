package import Model
package import Postgres
package import Store

/// A room that stores what depends on a credential or on a user who is admitted. Each function runs in the transaction that it is about.
package protocol CredentialObserver: Room {
  /// These user tokens are revoked.
  static func revoked(tokens: [PublicID], _ session: Session) throws

  /// A user is suspended.
  static func suspended(user: String, _ session: Session) throws

  /// The API keys, among those given, that something in the room names. They stay stored, because with the key its name would be gone.
  static func named(keys: [Int64], _ session: Session) throws -> [Int64]
}

extension CredentialObserver {
  package static func revoked(tokens: [PublicID], _ session: Session) throws {}
  package static func suspended(user: String, _ session: Session) throws {}
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

  /// The API keys, among those given, that nothing in the rooms names.
  func unnamed(keys: [Int64], _ session: Session) throws -> [Int64] {
    try credentialObservers.reduce(keys) { keys, room in
      guard !keys.isEmpty else { return [] }
      let named = Set(try room.named(keys: keys, session))
      return keys.filter { !named.contains($0) }
    }
  }
}
