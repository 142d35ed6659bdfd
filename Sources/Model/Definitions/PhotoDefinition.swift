/// A JSON document in `jobs/` that names the outputs of photos; the database stores it under its hash.
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
}
