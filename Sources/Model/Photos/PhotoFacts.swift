/// What is known of a photo once it was decoded.
package struct PhotoFacts: Codable, Sendable, Hashable {
  package var format: PhotoFormat
  package var bytes: Int64
  /// In pixels, as coded.
  package var coded: Size
  /// How the coded picture becomes upright: by its Exif orientation, or by what its container says.
  package var transform: Transform
  /// In pixels, upright.
  package var display: Size
  /// Of one sample as coded.
  package var bits: Int
  /// Grey, YCbCr, RGB or CMYK.
  package var model: String
  package var hasAlpha: Bool
  /// Whether it has more pictures than the first, which alone is read.
  package var isAnimated: Bool
  /// The name of its colour profile; nil: none, which means sRGB.
  package var profile: String?
  package var dynamicRange: DynamicRange
  /// What gives away place, device or person.
  package var identifying: [IdentifyingMetadata]

  package init(
    format: PhotoFormat, bytes: Int64, coded: Size, transform: Transform, display: Size, bits: Int, model: String,
    hasAlpha: Bool = false, isAnimated: Bool = false, profile: String? = nil, dynamicRange: DynamicRange = .standard,
    identifying: [IdentifyingMetadata] = []
  ) {
    self.format = format
    self.bytes = bytes
    self.coded = coded
    self.transform = transform
    self.display = display
    self.bits = bits
    self.model = model
    self.hasAlpha = hasAlpha
    self.isAnimated = isAnimated
    self.profile = profile
    self.dynamicRange = dynamicRange
    self.identifying = identifying
  }
}
