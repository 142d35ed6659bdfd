/// The settings of the preview of an animated photo: its first seconds as an animated WebP.
package struct PhotoPreview: Codable, Sendable, Hashable {
  /// The formats whose animations have a preview.
  package static let formats: [PhotoFormat] = [.gif]
  /// The media type (RFC 6838).
  package static let type = "image/webp"
  /// The longest duration, in milliseconds.
  package static let maxMilliseconds = 2000
  /// The largest number of images.
  package static let maxImages = 100

  /// The longer edge in pixels; an image is never enlarged.
  package var longEdge: Int
  /// The WebP quality, 1 to 100.
  package var quality: Int

  package init(longEdge: Int, quality: Int) {
    self.longEdge = longEdge
    self.quality = quality
  }
}
