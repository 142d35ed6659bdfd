package import FoundationEssentials

/// What a client says of a post when it submits one.
package struct PostDraft: Codable, Sendable, Hashable {
  package var kind: PostKind
  /// The app's own name of who posts.
  package var author: String
  package var title: String?
  package var caption: String?
  package var visibility: Visibility
  package var place: Place?
  package var location: Coordinate?
  /// When the moment was filmed.
  package var capturedAt: Date?
  /// Which camera is drawn as the inset on top.
  package var foreground: Camera

  package init(
    kind: PostKind = .take5, author: String, title: String? = nil, caption: String? = nil,
    visibility: Visibility = .public, place: Place? = nil, location: Coordinate? = nil, capturedAt: Date? = nil,
    foreground: Camera = .front
  ) {
    self.kind = kind
    self.author = author
    self.title = title
    self.caption = caption
    self.visibility = visibility
    self.place = place
    self.location = location
    self.capturedAt = capturedAt
    self.foreground = foreground
  }
}
