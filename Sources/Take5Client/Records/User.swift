public import Foundation

/// A user.
///
/// ```swift
/// let me = try await client.users.user("me")
/// ```
public struct User: Sendable, Hashable, Codable, Identifiable {
  /// Numbers.
  public struct Counts: Sendable, Hashable, Codable {
    /// Of the ready posts that the user who asks sees.
    public var posts: Int
    /// Of friends.
    public var friends: Int
  }

  /// The id.
  public var id: String
  /// The user name, unique without regard to case.
  public var userName: String?
  /// The name that apps show.
  public var name: String?
  /// A few words about the user.
  public var bio: String?
  /// The e-mail address, for the user alone.
  public var email: String?
  /// Whether the address is verified, for the user alone.
  public var emailVerified: Bool?
  /// When the service first knew of the user.
  public var createdAt: Date
  /// What the user who asks has to this one: `friend`, `requested`, `received`, `blocked`, or nil.
  public var relation: String?
  /// Numbers.
  public var counts: Counts
  /// The profile image.
  public var profileImage: Assets

  private enum CodingKeys: String, CodingKey {
    case id, name, bio, email, relation, counts
    case userName = "user_name"
    case emailVerified = "email_verified"
    case createdAt = "created_at"
    case profileImage = "profile_image"
  }
}

/// What a user has to another user or a post.
///
/// ```swift
/// for try await row in client.users.friends(include: [.author]) { show(row.users[row.target]) }
/// ```
public struct Relation: Sendable, Hashable, Codable {
  /// `friend`, `block`, `like`, `bookmark` or `favourite`.
  public var kind: String
  /// The id of the user who has it.
  public var user: String
  /// The id of the user or the post that it is to.
  public var target: String
  /// `established`, `sent` or `received`.
  public var state: String
  /// When it was established or asked for.
  public var createdAt: Date

  private enum CodingKeys: String, CodingKey {
    case kind, user, target, state
    case createdAt = "created_at"
  }
}
