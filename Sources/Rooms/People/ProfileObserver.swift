internal import Model
internal import Postgres
import Store

/// A room for which the profile of a user matters, as for accounts, whose users sign in with it. Each function runs in the transaction
/// that changes the profile.
protocol ProfileObserver: Room {
  /// Whether a user may not be without a user name.
  static func requiresUserName(_ user: String, _ session: Session) throws -> Bool

  /// A user whose address was verified has another one, or none.
  static func changedEmail(of user: String, from former: String, to email: String?, _ session: Session) throws
}

extension [any Room.Type] {
  var profileObservers: [any ProfileObserver.Type] { compactMap { $0 as? any ProfileObserver.Type } }
}
