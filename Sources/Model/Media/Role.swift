/// The purpose of a media file in its post or image.
package enum Role: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case sourceFront = "source.front"
  case sourceBack = "source.back"
  /// A single clip as submitted.
  case sourceClip = "source.clip"
  /// The playable version of a single clip.
  case clip
  case clipFront = "clip.front"
  case clipBack = "clip.back"
  case composed
  /// The composed video with foreground and background exchanged.
  case composedSwapped = "composed.swapped"
  case poster
  /// The first frame of the back clip, for pins of a map and cells of a calendar.
  case image
  case thumbnail
  case thumbnailFront = "thumbnail.front"
  case thumbnailBack = "thumbnail.back"
  case preview
  case photoLarge = "photo.large"
  case photoMedium = "photo.medium"
  case photoSmall = "photo.small"
  /// A square crop from the centre.
  case photoSquare = "photo.square"
  case avatar
  case avatarSmall = "avatar.small"
  /// A photo as submitted.
  case sourcePhoto = "source.photo"

  /// Whether it is a source. Sources hold metadata about place and device: they are never served to apps.
  package var isSource: Bool {
    switch self {
    case .sourceFront, .sourceBack, .sourceClip, .sourcePhoto: true
    default: false
    }
  }

  /// Whether it is a variant of a photo: a post has one for each of its photos.
  package var isVariant: Bool {
    switch self {
    case .photoLarge, .photoMedium, .photoSmall, .photoSquare, .avatar, .avatarSmall: true
    default: false
    }
  }

  /// The role of a camera's clip as submitted.
  package static func source(_ camera: Camera) -> Role { camera == .front ? .sourceFront : .sourceBack }
}

/// The name of an input in facts, plans and reasons.
package enum InputName: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case front
  case back
  /// The input where there is only one clip.
  case clip
  /// A photo; `Reason.photo` has its index.
  case photo

  /// The input for a camera's clip.
  package init(_ camera: Camera) { self = camera == .front ? .front : .back }
}

/// One of the two cameras that record a moment.
package enum Camera: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case front
  case back

  /// The other one.
  package var other: Camera { self == .front ? .back : .front }
}
