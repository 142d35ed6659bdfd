/// For whom the service reads and changes: a client that acts as no user, one user, or a client without a credential.
///
/// Which posts a viewer sees is the fragment `visible` of Fragments.sql. Nothing here repeats that rule.
package enum Viewer: Sendable, Hashable {
  /// A client that acts as no user: it sees and changes everything that its scopes permit.
  case unrestricted
  /// The app's id of a user.
  case user(String)
  /// A client without a credential where only what is public needs none.
  case stranger

  package init(user: String?) { self = user.map(Viewer.user) ?? .unrestricted }

  /// The user; nil for a client that acts as no user.
  package var user: String? { if case .user(let user) = self { user } else { nil } }

  /// Whether the viewer may change and delete what belongs to a user; nil: what belongs to no known user.
  ///
  /// PostgreSQL compares ids by their bytes. Swift's `==` also equates different bytes of the same characters, and would
  /// give one user the things of another.
  package func owns(_ owner: String?) -> Bool {
    switch self {
    case .unrestricted: true
    case .user(let user): owner.map { $0.utf8.elementsEqual(user.utf8) } ?? false
    case .stranger: false
    }
  }
}
