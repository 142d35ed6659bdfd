/// The properties of a decoded photo.
package struct PhotoFacts: Codable, Sendable, Hashable {
  package var format: PhotoFormat
  package var bytes: Int64
  /// The size in pixels, as coded.
  package var coded: Size
  /// The transform to upright, from the Exif orientation or from the container.
  package var transform: Transform
  /// The size in pixels, upright.
  package var display: Size
  /// The bit depth of a coded sample.
  package var bits: Int
  /// The colour model: grey, YCbCr, RGB or CMYK.
  package var model: String
  package var hasAlpha: Bool
  /// Whether the file has further frames; variants show the first one.
  package var isAnimated: Bool
  /// The number of images in its preview, at least 2; nil: it has none.
  package var previewImages: Int?
  /// The name of the colour profile; nil: none, so sRGB applies.
  package var profile: String?
  package var dynamicRange: DynamicRange
  /// The metadata about place, device or person.
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

/// A file format of photos.
package enum PhotoFormat: String, NamedCases, Sendable {
  case jpeg
  /// HEIF with HEVC, as iPhones write it.
  case heif
  /// HEIF with AV1.
  case avif
  case png
  case webp
  /// The first image of a GIF; only where a definition names it.
  case gif

  /// The format by the first 16 bytes of a file; nil: none of these.
  package init?(start bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(16))
    func has(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if has("RIFF", at: 0), has("WEBP", at: 8) {
      self = .webp
    } else if has("GIF87a", at: 0) || has("GIF89a", at: 0) {
      self = .gif
    } else if has("ftyp", at: 4), ["avif", "avis"].contains(where: { has($0, at: 8) }) {
      self = .avif
    } else if has("ftyp", at: 4), Self.brands.contains(where: { has($0, at: 8) }) {
      self = .heif
    } else {
      return nil
    }
  }

  /// The formats that the built-in definitions accept.
  package static let usual: [PhotoFormat] = [.jpeg, .heif, .avif, .png, .webp]

  /// The name of the format in messages.
  package var name: String { self == .webp ? "WebP" : rawValue.uppercased() }

  /// The media type (RFC 6838).
  package var mediaType: String { "image/\(self == .heif ? "heic" : rawValue)" }

  // ISO/IEC 23008-12, annex B, and the structural brands that some files have as their major brand.
  private static let brands = ["heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs", "mif1", "msf1", "mif2"]
}

/// The result of processing one photo.
package struct PhotoReport: Codable, Sendable, Hashable {
  /// The reason of a rejection; nil: the photo was accepted.
  package var reason: Reason?
  /// Nil if the photo could not be read.
  package var facts: PhotoFacts?
  /// The choices of the run.
  package var decisions: [Decision]
  /// The ThumbHash in base64.
  package var thumbhash: String?
  /// The dominant colour, `#rrggbb`.
  package var dominantColor: String?
  /// The outputs; empty if the photo was rejected.
  package var outputs: [OutputFacts]

  package init(
    reason: Reason? = nil, facts: PhotoFacts? = nil, decisions: [Decision] = [], thumbhash: String? = nil,
    dominantColor: String? = nil, outputs: [OutputFacts] = []
  ) {
    self.reason = reason
    self.facts = facts
    self.decisions = decisions
    self.thumbhash = thumbhash
    self.dominantColor = dominantColor
    self.outputs = outputs
  }
}
