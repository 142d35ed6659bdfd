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
