/// What a stored media file is to its post, reaction or image.
package enum Role: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case sourceFront = "source.front"
  case sourceBack = "source.back"
  case clipFront = "clip.front"
  case clipBack = "clip.back"
  case composed
  /// The composed video with foreground and background exchanged.
  case composedSwapped = "composed.swapped"
  case poster
  /// A frame of the back clip at its start: map pin and calendar cell.
  case image
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
  package var isSource: Bool { self == .sourceFront || self == .sourceBack || self == .sourcePhoto }

  /// The role of a camera's clip as it was submitted.
  package static func source(_ camera: Camera) -> Role { camera == .front ? .sourceFront : .sourceBack }

  /// The role of a camera's playable clip.
  package static func clip(_ camera: Camera) -> Role { camera == .front ? .clipFront : .clipBack }

  /// The role of a camera's thumbnail.
  package static func thumbnail(_ camera: Camera) -> Role { camera == .front ? .thumbnailFront : .thumbnailBack }
}
