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
  /// The composed video in a smaller size, for slow networks.
  case composedSmall = "composed.small"
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
  /// The first seconds of an animated photo.
  case photoPreview = "photo.preview"
  case avatar
  case avatarSmall = "avatar.small"
  /// A photo as submitted.
  case sourcePhoto = "source.photo"

  /// The kind of a file, with its source where the role determines that.
  package enum Kind: Sendable, Hashable {
    /// An input as it was submitted.
    case source(InputName)
    /// A composed video; `swapped` exchanges foreground and background.
    case composed(swapped: Bool)
    /// A smaller version of the video that the definition names; a plan has at most one.
    case rendition
    /// The playable version of an input.
    case clip(InputName)
    /// One frame of the video that the definition names.
    case still
    /// An animation of the video that the definition names; a plan has at most one.
    case preview
    /// A variant of a photo: a post has one for each of its photos.
    case variant
    /// The animation of a photo that is one.
    case photoPreview
  }

  /// The table of all roles: everything that depends on the role of a file follows from its kind.
  package var kind: Kind {
    switch self {
    case .sourceFront: .source(.front)
    case .sourceBack: .source(.back)
    case .sourceClip: .source(.clip)
    case .sourcePhoto: .source(.photo)
    case .composed: .composed(swapped: false)
    case .composedSwapped: .composed(swapped: true)
    case .composedSmall: .rendition
    case .clip: .clip(.clip)
    case .clipFront: .clip(.front)
    case .clipBack: .clip(.back)
    case .poster, .image, .thumbnail, .thumbnailFront, .thumbnailBack: .still
    case .preview: .preview
    case .photoLarge, .photoMedium, .photoSmall, .photoSquare, .avatar, .avatarSmall: .variant
    case .photoPreview: .photoPreview
    }
  }

  /// The roles that a definition for clips may have, in the order of outputs everywhere: the kinds in the order of a
  /// plan, and the roles of a kind in the order of their declaration.
  package static let outputs: [Role] = (0..<5).flatMap { place in allCases.filter { $0.kind.placeInPlan == place } }

  /// Whether it is a source. Sources hold metadata about place and device: they are never served to apps.
  package var isSource: Bool { if case .source = kind { true } else { false } }

  /// Whether it is a variant of a photo.
  package var isVariant: Bool { kind == .variant }

  /// Whether each photo of a post has an output of its own with this role.
  package var isOfPhoto: Bool { kind == .variant || kind == .photoPreview }

  /// The name of a file of this role in a folder of outputs.
  package var fileName: String { "\(rawValue).\(kind.fileExtension)" }

  /// Where one picture stands for a post.
  package enum PictureUse: Sendable {
    /// A day of a calendar, whose picture is small and not square if there is such a one.
    case calendar
    /// A notification, which a device shows large once a person opens it.
    case notification
  }

  /// The roles of the picture that stands for a post, the best first.
  package static func pictures(for use: PictureUse) -> [Role] {
    switch use {
    case .calendar: [.image, .photoSmall, .thumbnail, .poster, .photoMedium]
    case .notification: [.thumbnail, .photoMedium, .poster, .image, .photoSquare, .photoSmall]
    }
  }

  /// The role of a camera's clip as submitted.
  package static func source(_ camera: Camera) -> Role { camera == .front ? .sourceFront : .sourceBack }
}

extension Role.Kind {
  /// Nil: plans for clips have no such outputs.
  fileprivate var placeInPlan: Int? {
    switch self {
    case .composed: 0
    case .rendition: 1
    case .clip: 2
    case .still: 3
    case .preview: 4
    case .source, .variant, .photoPreview: nil
    }
  }

  fileprivate var fileExtension: String {
    switch self {
    case .composed, .rendition, .clip, .source(.front), .source(.back), .source(.clip): "mp4"
    case .still, .variant, .source(.photo): "jpg"
    case .preview, .photoPreview: "webp"
    }
  }
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
