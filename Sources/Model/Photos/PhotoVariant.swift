/// One picture that is made of a photo.
package struct PhotoVariant: Codable, Sendable, Hashable {
  /// What it is written as.
  package enum Format: String, Codable, Sendable {
    case jpeg, webp, avif

    /// The media type (RFC 6838).
    package var type: String { "image/\(rawValue)" }
  }

  /// In pixels; never enlarged. One of `longEdge` and `square` is given.
  package var longEdge: Int?
  /// The edge of a square out of the middle, in pixels; never enlarged.
  package var square: Int?
  /// 1 to 100.
  package var quality: Int
  /// JPEG unless told otherwise.
  package var format: Format?
  /// The most bytes: quality is lowered until they suffice; nil: any.
  package var mostBytes: Int?
  /// Whether colour has as many samples as brightness; nil: from quality 90 on.
  package var fullChroma: Bool?

  package init(
    longEdge: Int? = nil, square: Int? = nil, quality: Int, format: Format? = nil, mostBytes: Int? = nil,
    fullChroma: Bool? = nil
  ) {
    self.longEdge = longEdge
    self.square = square
    self.quality = quality
    self.format = format
    self.mostBytes = mostBytes
    self.fullChroma = fullChroma
  }

  /// Whether colour has half the samples in both directions.
  package var halvesChroma: Bool { !(fullChroma ?? (quality >= 90)) }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    longEdge = try container.decodeIfPresent(Int.self, forKey: .longEdge)
    square = try container.decodeIfPresent(Int.self, forKey: .square)
    quality = try container.decode(Int.self, forKey: .quality)
    format = try container.decodeIfPresent(Format.self, forKey: .format)
    mostBytes = try container.decodeIfPresent(Int.self, forKey: .mostBytes)
    fullChroma = try container.decodeIfPresent(Bool.self, forKey: .fullChroma)
    guard (longEdge == nil) != (square == nil), 1...16384 ~= longEdge ?? square ?? 0 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "one of long_edge and square is given, 1 to 16384"))
    }
    guard 1...100 ~= quality else {
      throw DecodingError.dataCorruptedError(
        forKey: .quality, in: container, debugDescription: "quality is 1 to 100")
    }
  }

  /// The part of an upright photo that is taken, and the size that it gets.
  package func geometry(of photo: Size) -> PhotoGeometry {
    if let square {
      let edge = min(photo.width, photo.height)
      // Even, so that colour is cut where brightness is.
      let crop = Rectangle(
        x: (photo.width - edge) / 4 * 2, y: (photo.height - edge) / 4 * 2, width: edge, height: edge)
      return PhotoGeometry(crop: crop, size: Size(width: min(square, edge), height: min(square, edge)))
    }
    let whole = Rectangle(x: 0, y: 0, width: photo.width, height: photo.height)
    return PhotoGeometry(crop: whole, size: longEdge.map { photo.within(longEdge: $0) } ?? photo)
  }
}
