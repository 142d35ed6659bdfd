/// A JSON document in `jobs/` that says what is made from photos; the database stores it under its hash.
package struct PhotoDefinition: Codable, Sendable, Hashable {
  /// The treatment of metadata about place, device and person.
  package enum Metadata: String, NamedCases, Sendable {
    /// No output contains any.
    case strip
  }

  package var name: String
  package var version: Int
  /// The longest time of one attempt.
  package var deadlineSeconds: Int
  /// The number of attempts before the job is dead.
  package var attempts: Int
  /// The maximum number of photos in a submission.
  package var photos: Int
  package var limits: PhotoLimits
  /// The variants of each photo, by role.
  package var variants: [Role: PhotoVariant]
  package var metadata: Metadata
  /// Whether posts are held until a decision; nil: they are not. Only posts can be held.
  package var moderation: ModerationRule?
  /// Who sees the first look of a post; nil: the author. Only posts have one.
  package var look: LookAudience?
  /// Whether the sources are kept for reprocessing.
  package var keepSources: Bool

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    deadlineSeconds = try container.decode(Int.self, forKey: .deadlineSeconds)
    attempts = try container.decode(Int.self, forKey: .attempts)
    photos = try container.decode(Int.self, forKey: .photos)
    limits = try container.decode(PhotoLimits.self, forKey: .limits)
    variants = try container.decode(named: Role.allCases.filter(\.isVariant), forKey: .variants)
    metadata = try container.decode(Metadata.self, forKey: .metadata)
    moderation = try container.decodeIfPresent(ModerationRule.self, forKey: .moderation)
    look = try container.decodeIfPresent(LookAudience.self, forKey: .look)
    keepSources = try container.decode(Bool.self, forKey: .keepSources)
    try NumberRange.day.check(deadlineSeconds, "deadline_seconds")
    try NumberRange.number.check(attempts, "attempts")
    try NumberRange.number.check(photos, "photos")
    try NumberRange.bytes.check(Double(limits.bytes), "limits.bytes")
    try NumberRange.pixels.check(limits.pixels, "limits.pixels")
    try NumberRange.pixels.check(limits.headerPixels, "limits.header_pixels")
    try NumberRange.pixels.check(limits.progressivePixels, "limits.progressive_pixels")
  }

  /// The plan for each photo.
  package var plan: PhotoPlan { PhotoPlan(limits: limits, variants: variants) }
}

/// The limits of photos, which are checked against their headers, before anything is decoded.
package struct PhotoLimits: Codable, Sendable, Hashable {
  /// The maximum size of one file.
  package var bytes: Int64
  /// The maximum of width times height, as decoded.
  package var pixels: Int
  /// The maximum of width times height of a JPEG in one scan by its header, which is decoded at a reduced size above `pixels`; nil:
  /// `pixels`.
  package var headerPixels: Int?
  /// The maximum of width times height for a progressive JPEG, whose coefficients stay in memory until its last scan.
  package var progressivePixels: Int
  package var formats: [PhotoFormat]

  package init(
    bytes: Int64, pixels: Int, headerPixels: Int? = nil, progressivePixels: Int, formats: [PhotoFormat]
  ) {
    self.bytes = bytes
    self.pixels = pixels
    self.headerPixels = headerPixels
    self.progressivePixels = progressivePixels
    self.formats = formats
  }

  /// The smallest part of its edges at which a JPEG is decoded, as a divisor.
  package static let maxReduction = 8

  /// The size at which a photo of this size is decoded: the largest of eight to one eighths of its edges, rounded up, that has at
  /// most `pixels`.
  package func decoded(_ size: Size) -> Size {
    func eighths(_ count: Int, of edge: Int) -> Int { (edge * count + Self.maxReduction - 1) / Self.maxReduction }
    let sizes = (1...Self.maxReduction).reversed().lazy.map {
      Size(width: eighths($0, of: size.width), height: eighths($0, of: size.height))
    }
    return sizes.first { $0.width * $0.height <= pixels }
      ?? Size(width: eighths(1, of: size.width), height: eighths(1, of: size.height))
  }
}

/// The work on one photo.
///
/// Its JSON is part of the recipe of the outputs.
package struct PhotoPlan: Codable, Sendable, Hashable {
  package var limits: PhotoLimits
  /// The variants by role; empty: the photo is only decoded and described.
  package var variants: [Role: PhotoVariant]
  /// Whether the run makes a first look, for which it writes only the small variants; nil: it writes all.
  package var isLook: Bool?

  package init(limits: PhotoLimits, variants: [Role: PhotoVariant]) {
    self.limits = limits
    self.variants = variants
  }

  /// The roles of the outputs, in a fixed order.
  package var outputs: [Role] {
    variants.filter { isLook != true || $0.value.isSmall }.keys.sorted { $0.rawValue < $1.rawValue }
  }
}
