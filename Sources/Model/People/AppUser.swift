package import FoundationEssentials

/// What a user or an app's back-end says of a user; nil values are unknown.
package struct Profile: Encodable, Sendable, Hashable {
  /// Unique without regard to the case of ASCII letters.
  package var userName: String?
  package var name: String?
  package var givenName: String?
  package var familyName: String?
  package var bio: String?
  /// `2001-02-28`; only for the user, as the e-mail address.
  package var birthDate: String?
  package var email: String?
  /// What the definition of fields says of the user; nil: nothing.
  package var fields: [String: FieldValue]?

  package init(
    userName: String? = nil, name: String? = nil, givenName: String? = nil, familyName: String? = nil,
    bio: String? = nil, birthDate: String? = nil, email: String? = nil, fields: [String: FieldValue]? = nil
  ) {
    self.userName = userName
    self.name = name
    self.givenName = givenName
    self.familyName = familyName
    self.bio = bio
    self.birthDate = birthDate
    self.email = email
    self.fields = fields
  }

  /// The maximum length of a user name; its characters are ASCII letters and digits, `.`, `_` and `-`.
  package static let maxUserName = 30
  /// The maximum length of an e-mail address in characters.
  package static let maxEmail = 254

  /// Whether a text has the form of a user name.
  package static func isUserName(_ text: String) -> Bool {
    1...maxUserName ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// The text by which user names are told apart: the same name with ASCII letters in lower case. The database has the same
  /// rule, `lower(user_name COLLATE "C")`, whatever its locale.
  package static func folded(userName: String) -> String {
    String(decoding: userName.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Whether a user name is one that no user takes: it is part of a path, or could be taken for the service itself.
  package static func isReserved(userName: String) -> Bool {
    // What only separates does not make it another name.
    let letters = folded(userName: userName).filter { !"._-".contains($0) }
    return letters.isEmpty || reservedUserNames.contains(letters)
  }

  private static let reservedUserNames: Set<String> = [
    "abuse", "account", "accounts", "admin", "administrator", "anonymous", "api", "current", "everyone", "guest",
    "help", "info", "me", "mod", "moderation", "moderator", "moderators", "nobody", "null", "official", "operator",
    "owner", "postmaster", "root", "security", "self", "service", "staff", "superuser", "support", "sysadmin",
    "system", "take5", "team", "undefined", "webmaster",
  ]
}

/// A user as a viewer sees it.
package struct AppUser: Sendable, Hashable {
  /// What the viewer has to the user.
  package enum Tie: String, Codable, Sendable, CaseIterable {
    case friend
    /// The viewer has asked for friendship.
    case requested
    /// The user has asked for friendship.
    case received
    /// The viewer has blocked the user.
    case blocked
  }

  package let id: String
  /// Without the birth date and the e-mail address unless the viewer may see them.
  package let profile: Profile
  /// Whether the user has shown to read the mail of the address; nil unless the viewer may see that.
  package let isEmailVerified: Bool?
  package let createdAt: Date
  /// The number of changes of the profile.
  package let revision: Int
  /// The number of posts that the viewer sees.
  package let posts: Int
  package let friends: Int
  /// The current profile image by role; empty without one.
  package let image: [Role: Asset]
  /// Nil: none, or the viewer is no user.
  package let tie: Tie?

  package init(
    id: String, profile: Profile, isEmailVerified: Bool?, createdAt: Date, revision: Int, posts: Int, friends: Int,
    image: [Role: Asset], tie: Tie?
  ) {
    self.id = id
    self.profile = profile
    self.isEmailVerified = isEmailVerified
    self.createdAt = createdAt
    self.revision = revision
    self.posts = posts
    self.friends = friends
    self.image = image
    self.tie = tie
  }
}
