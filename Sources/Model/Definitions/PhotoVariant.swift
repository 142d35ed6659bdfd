/// The settings of one variant of a photo.
package struct PhotoVariant: Codable, Sendable, Hashable {
  /// The file format of a variant.
  package enum Format: String, NamedCases, Sendable {
    case jpeg, webp, avif

    /// The media type (RFC 6838).
    package var type: String { "image/\(rawValue)" }
  }

  /// The longer edge in pixels; a photo is never enlarged. Exactly one of `longEdge` and `square` is set.
  package var longEdge: Int?
  /// The edge in pixels of a square cropped from the centre; a photo is never enlarged.
  package var square: Int?
  /// The quality of the encoder, 1 to 100.
  package var quality: Int
  /// Nil: JPEG.
  package var format: Format?
  /// The maximum size of the file: the quality is lowered until the file fits; nil: no limit.
  package var maxBytes: Int?
  /// Whether chroma has the resolution of luma (4:4:4); nil: from quality 90 on.
  package var fullChroma: Bool?

  // The key of stored definitions is `most_bytes`.
  private enum CodingKeys: String, CodingKey {
    case longEdge, square, quality, format, fullChroma
    case maxBytes = "mostBytes"
  }

  package init(
    longEdge: Int? = nil, square: Int? = nil, quality: Int, format: Format? = nil, maxBytes: Int? = nil,
    fullChroma: Bool? = nil
  ) {
    self.longEdge = longEdge
    self.square = square
    self.quality = quality
    self.format = format
    self.maxBytes = maxBytes
    self.fullChroma = fullChroma
  }

  /// Whether chroma has half the resolution in both directions (4:2:0).
  package var halvesChroma: Bool { !(fullChroma ?? (quality >= 90)) }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    longEdge = try container.decodeIfPresent(Int.self, forKey: .longEdge)
    square = try container.decodeIfPresent(Int.self, forKey: .square)
    quality = try container.decode(Int.self, forKey: .quality)
    format = try container.decodeIfPresent(Format.self, forKey: .format)
    maxBytes = try container.decodeIfPresent(Int.self, forKey: .maxBytes)
    fullChroma = try container.decodeIfPresent(Bool.self, forKey: .fullChroma)
    guard (longEdge == nil) != (square == nil), 1...16384 ~= longEdge ?? square ?? 0 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "expected either long_edge or square, 1 to 16384"))
    }
    guard 1...100 ~= quality else {
      throw DecodingError.dataCorruptedError(
        forKey: .quality, in: container, debugDescription: "expected a quality of 1 to 100")
    }
  }

  /// The crop and the scaling of an upright photo of a size.
  package func geometry(of photo: Size) -> PhotoGeometry {
    if let square {
      let edge = min(photo.width, photo.height)
      // Even, so that chroma is cropped where luma is.
      let crop = Rectangle(
        x: (photo.width - edge) / 4 * 2, y: (photo.height - edge) / 4 * 2, width: edge, height: edge)
      return PhotoGeometry(crop: crop, size: Size(width: min(square, edge), height: min(square, edge)))
    }
    let all = Rectangle(x: 0, y: 0, width: photo.width, height: photo.height)
    return PhotoGeometry(crop: all, size: longEdge.map { photo.within(longEdge: $0) } ?? photo)
  }
}

/// A crop of an upright photo and the size to which it is scaled.
package struct PhotoGeometry: Sendable, Hashable {
  package var crop: Rectangle
  package var size: Size

  package init(crop: Rectangle, size: Size) {
    self.crop = crop
    self.size = size
  }

  /// The width of the crop divided by the width of the result, at least 1.
  package var reduction: Double { Double(crop.width) / Double(size.width) }
}
