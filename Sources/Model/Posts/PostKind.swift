/// What a post is made of.
package enum PostKind: String, Codable, Sendable, CaseIterable {
  /// Both clips of one moment.
  case take5
  /// Up to ten photos.
  case photo
  /// A mark on the map, with at most one image or video.
  case marker
}
