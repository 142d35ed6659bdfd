public import Foundation

/// A post: a moment, photos or a marker.
///
/// ```swift
/// let post = try await client.posts.post(id)
/// if let moment = MomentPlayer(post) { play(moment) }
/// ```
public struct Post: Sendable, Hashable, Codable, Identifiable {
  /// How many comments, reactions and likes a post has, the same for each viewer.
  public struct Counts: Sendable, Hashable, Codable {
    /// The number of comments on it.
    public var comments: Int
    /// The number of reactions to it.
    public var reactions: Int
    /// The number of its likes.
    public var likes: Int
  }

  /// Whether a moment was posted on time.
  public struct Timing: Sendable, Hashable, Codable {
    /// `on_time`, `late`, or `outside` of the daily window.
    public var state: String
    /// Seconds after the close; nil unless the moment is late.
    public var lateSeconds: Int?

    /// Whether the moment was posted on time.
    public var isOnTime: Bool { state == "on_time" }

    private enum CodingKeys: String, CodingKey {
      case state
      case lateSeconds = "late_seconds"
    }
  }

  /// The id.
  public var id: String
  /// The kind.
  public var kind: PostKind
  /// The status of the post.
  public var status: PostStatus
  /// The id of the author.
  public var author: String
  /// A title.
  public var title: String?
  /// The text.
  public var caption: String?
  /// What the media show, in words.
  public var alternativeText: String?
  /// Who sees it.
  public var visibility: PostVisibility
  /// The place, if it has one.
  public var place: Place?
  /// Where it is.
  public var location: Coordinate?
  /// The fields that the service's configuration adds to posts, by name.
  public var fields: [String: JSONValue]
  /// The age in years below which users do not see it; nil: all users do.
  public var minAge: Int?
  /// When it was recorded.
  public var capturedAt: Date?
  /// When it was submitted.
  public var createdAt: Date
  /// When content, status or media last changed.
  public var updatedAt: Date
  /// The camera that is shown in the inset.
  public var foreground: Camera
  /// Whether it was posted on time; nil: it is no moment, or no daily window had opened yet.
  public var window: Timing?
  /// The time of a sound in the front clip minus its time in the back clip, in seconds; nil: it is not known.
  public var offsetSeconds: Double?
  /// Its comments, reactions and likes.
  public var counts: Counts
  /// Why its media were rejected; empty unless they were.
  public var reasons: [Reason]
  /// The media.
  public var assets: Assets
  /// The variants of each photo, in the order of submission.
  public var photos: [Assets]
  /// The distance in meters from the point that a list is near; nil in other lists.
  public var distance: Double?

  /// The image that a list shows for a post of any kind: a moment's, a video's or the first photo's, small; nil before there is
  /// one, and for a marker without media.
  public var still: Asset? {
    assets[.image] ?? assets[.thumbnail] ?? assets[.poster]
      ?? photos.first.flatMap { $0[.photoSmall] ?? $0[.photoMedium] }
  }

  /// Whether there is something to see.
  public var hasMedia: Bool { !assets.isEmpty || !photos.isEmpty }

  private enum CodingKeys: String, CodingKey {
    case id, kind, status, author, title, caption, visibility, place, location, foreground, window, counts, reasons
    case assets, photos, distance, fields
    case minAge = "min_age"
    case alternativeText = "alternative_text"
    case capturedAt = "captured_at"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
    case offsetSeconds = "offset_seconds"
  }
}
