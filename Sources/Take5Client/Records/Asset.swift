import Foundation

/// A media file of a post or an image.
///
/// ```swift
/// if let poster = post.assets[.poster] { load(client.url(of: poster), placeholder: poster.placeholder) }
/// ```
public struct Asset: Sendable, Hashable, Codable {
  /// The path or URL; `Take5Client.url(of:)` makes a URL of it. It works for one to two days: store ids of posts instead.
  public var path: String
  /// The media type.
  public var type: String
  /// The length of the file.
  public var bytes: Int64
  /// In pixels, after rotation.
  public var width: Int?
  /// In pixels, after rotation.
  public var height: Int?
  /// In seconds; nil for images.
  public var duration: Double?
  /// The dominant colour, such as `#6b5a48`.
  public var color: String?
  /// The ThumbHash in base64.
  public var thumbhash: String?
  /// The integrated loudness of a video's sound (EBU R 128), in LUFS; nil for images and silence, and if it was not measured.
  public var loudness: Double?

  /// A few blurred pixels to show until the file is loaded.
  public var placeholder: Placeholder? { thumbhash.flatMap(Placeholder.init(thumbhash:)) }

  /// The volume of a player with which this video is as loud as others: at most 1, as players only attenuate.
  ///
  /// ```swift
  /// player.volume = post.assets[.composed]?.volume() ?? 1
  /// ```
  ///
  /// - Parameter lufs: The loudness that all are to have.
  public func volume(atLoudness lufs: Double = -16) -> Float {
    guard let loudness, loudness > lufs else { return 1 }
    return Float(pow(10, (lufs - loudness) / 20))
  }

  private enum CodingKeys: String, CodingKey {
    case loudness = "loudness_lufs"
    case path = "url"
    case type, bytes, width, height, duration, color, thumbhash
  }

  /// The role of a media file.
  ///
  /// ```swift
  /// let small = photo[.photoSmall]
  /// ```
  public struct Role: RawRepresentable, Sendable, Hashable {
    /// The name, as the service writes it.
    public let rawValue: String
    /// A role by its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The composition of both clips, 1080x1920.
    public static let composed = Self(rawValue: "composed")
    /// The composition with the cameras swapped, if the service makes one.
    public static let composedSwapped = Self(rawValue: "composed.swapped")
    /// The composition for slow networks, 540x960.
    public static let composedSmall = Self(rawValue: "composed.small")
    /// The video of a marker.
    public static let clip = Self(rawValue: "clip")
    /// The clip of the front camera.
    public static let clipFront = Self(rawValue: "clip.front")
    /// The clip of the back camera.
    public static let clipBack = Self(rawValue: "clip.back")
    /// A frame of the composition, or of a marker's video.
    public static let poster = Self(rawValue: "poster")
    /// A frame from the start of the back clip, for map pins and calendar cells.
    public static let image = Self(rawValue: "image")
    /// A small image of a marker's video.
    public static let thumbnail = Self(rawValue: "thumbnail")
    /// A small image of the front clip.
    public static let thumbnailFront = Self(rawValue: "thumbnail.front")
    /// A small image of the back clip.
    public static let thumbnailBack = Self(rawValue: "thumbnail.back")
    /// Two seconds of the composition, or of a marker's video, as an animated WebP.
    public static let preview = Self(rawValue: "preview")
    /// A photo, large.
    public static let photoLarge = Self(rawValue: "photo.large")
    /// A photo, for a list.
    public static let photoMedium = Self(rawValue: "photo.medium")
    /// A photo, small.
    public static let photoSmall = Self(rawValue: "photo.small")
    /// A photo, square.
    public static let photoSquare = Self(rawValue: "photo.square")
    /// Up to two seconds of a photo that is an animation, as an animated WebP.
    public static let photoPreview = Self(rawValue: "photo.preview")
    /// A profile image, 512 pixels square.
    public static let avatar = Self(rawValue: "avatar")
    /// A profile image, 150 pixels square.
    public static let avatarSmall = Self(rawValue: "avatar.small")
  }
}

/// Media files by role.
///
/// ```swift
/// let video = post.assets[.composedSmall] ?? post.assets[.composed]
/// ```
public struct Assets: Sendable, Hashable, Codable {
  private var byRole: [String: Asset]

  /// Reads the object of JSON.
  public init(from decoder: any Decoder) throws { byRole = try [String: Asset](from: decoder) }
  /// Writes the object of JSON.
  public func encode(to encoder: any Encoder) throws { try byRole.encode(to: encoder) }

  /// The file of a role, if there is one.
  public subscript(role: Asset.Role) -> Asset? { byRole[role.rawValue] }
  /// Whether there are none.
  public var isEmpty: Bool { byRole.isEmpty }
  /// The roles that there are.
  public var roles: Set<Asset.Role> { Set(byRole.keys.map(Asset.Role.init(rawValue:))) }
}
