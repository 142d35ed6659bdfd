public import Foundation

/// An image that is no part of a post: a reaction or a profile image.
///
/// ```swift
/// for try await row in client.posts.reactions(to: post.id, include: [.author]) { show(row.assets[.photoSmall]) }
/// ```
public struct ImageRecord: Sendable, Hashable, Codable, Identifiable {
  /// The id.
  public var id: String
  /// `reaction`, `profile`, `itinerary` or `place`.
  public var kind: String
  /// The id of the post, the user, the itinerary or the place.
  public var owner: String
  /// The author.
  public var author: String?
  /// What it shows, in words.
  public var alternativeText: String?
  /// `processing`, `ready`, `rejected`, `failed` or `replaced`.
  public var status: String
  /// When it was submitted.
  public var createdAt: Date
  /// Why it was rejected.
  public var reasons: [Reason]
  /// The media.
  public var assets: Assets

  private enum CodingKeys: String, CodingKey {
    case id, kind, owner, author, status, reasons, assets
    case alternativeText = "alternative_text"
    case createdAt = "created_at"
  }
}
