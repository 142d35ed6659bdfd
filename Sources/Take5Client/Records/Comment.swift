public import Foundation

/// A comment on a post.
///
/// ```swift
/// let comment = try await client.posts.comment(on: post.id, "Where is that?")
/// ```
public struct Comment: Sendable, Hashable, Codable, Identifiable {
  /// The id.
  public var id: String
  /// The id of the post.
  public var post: String?
  /// The author.
  public var author: String
  /// The text.
  public var text: String
  /// Whether a moderator has hidden it: then only its author sees it.
  public var hidden: Bool
  /// When it was submitted.
  public var createdAt: Date
  /// When the author last changed it.
  public var editedAt: Date?

  private enum CodingKeys: String, CodingKey {
    case id, post, author, text, hidden
    case createdAt = "created_at"
    case editedAt = "edited_at"
  }
}
