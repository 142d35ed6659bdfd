/// What a stored media file is to its post, reaction or image.
package enum Role: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case sourceFront = "source.front"
  case sourceBack = "source.back"
  /// A single clip as it was submitted.
  case sourceClip = "source.clip"
  /// The playable form of a single clip.
  case clip
  case clipFront = "clip.front"
  case clipBack = "clip.back"
  case composed
  /// The composed video with foreground and background exchanged.
  case composedSwapped = "composed.swapped"
  case poster
  /// A frame of the back clip at its start: map pin and calendar cell.
  case image
  case thumbnail
  case thumbnailFront = "thumbnail.front"
  case thumbnailBack = "thumbnail.back"
  case preview
  case photoLarge = "photo.large"
  case photoMedium = "photo.medium"
  case photoSmall = "photo.small"
  /// A square out of the middle.
  case photoSquare = "photo.square"
  case avatar
  case avatarSmall = "avatar.small"
  /// A photo as it was submitted.
  case sourcePhoto = "source.photo"

  /// Sources carry place and device: they are kept for reprocessing and never served to apps.
  package var isSource: Bool {
    switch self {
    case .sourceFront, .sourceBack, .sourceClip, .sourcePhoto: true
    default: false
    }
  }

  /// Whether it is one of a photo's variants, of which a post has as many as photos.
  package var isVariant: Bool {
    switch self {
    case .photoLarge, .photoMedium, .photoSmall, .photoSquare, .avatar, .avatarSmall: true
    default: false
    }
  }

  /// The role of a camera's clip as it was submitted.
  package static func source(_ camera: Camera) -> Role { camera == .front ? .sourceFront : .sourceBack }

  /// The role of a camera's playable clip.
  package static func clip(_ camera: Camera) -> Role { camera == .front ? .clipFront : .clipBack }

  /// The role of a camera's thumbnail.
  package static func thumbnail(_ camera: Camera) -> Role { camera == .front ? .thumbnailFront : .thumbnailBack }
}
