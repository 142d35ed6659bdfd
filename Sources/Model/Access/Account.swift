package import FoundationEssentials

/// The account of a user who signs in with a password.
package struct Account: Sendable, Hashable {
  /// The minimum length of a password in characters (NIST SP 800-63B, section 5.1.1).
  package static let minPassword = 8
  /// The maximum length of a password in characters.
  package static let maxPassword = 200

  package let user: String
  /// Nil if the user has given up the name, and then cannot sign in.
  package let userName: String?
  /// The hash of the password, as text.
  package let passwordHash: String
  package let createdAt: Date
  /// The time since which the user cannot sign in; nil: the user can.
  package let disabledAt: Date?

  package init(user: String, userName: String?, passwordHash: String, createdAt: Date, disabledAt: Date?) {
    self.user = user
    self.userName = userName
    self.passwordHash = passwordHash
    self.createdAt = createdAt
    self.disabledAt = disabledAt
  }
}
