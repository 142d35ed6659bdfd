public import Foundation

/// A comment on a post, a place or a collection.
///
/// ```swift
/// let comment = try await client.posts.comment(on: post.id, "Where is that?")
/// ```
public struct Comment: Sendable, Hashable, Codable, Identifiable {
  /// The id.
  public var id: String
  /// The id of the post that it is on; nil: it is on a place or a collection.
  public var post: String?
  /// The id of the place that it is on; nil: it is on a post or a collection.
  public var place: String?
  /// The id of the collection that it is on; nil: it is on a post or a place.
  public var collection: String?
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
    case id, post, place, collection, author, text, hidden
    case createdAt = "created_at"
    case editedAt = "edited_at"
  }
}
