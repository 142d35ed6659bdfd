internal import CImages

/// What a PNG, WebP, HEIF or AVIF says of itself before its pixels.
package struct ImageHeader: Hashable, Sendable {
  /// In pixels; upright for HEIF and AVIF, whose rotation the decoder applies.
  package let width: Int
  package let height: Int
  /// Of one sample as coded.
  package let bits: Int
  package let hasAlpha: Bool
  /// Whether it has more pictures than the first, which alone is read.
  package let isAnimated: Bool
  /// Code points of ITU-T H.273 where it says them, else 2, "unspecified".
  package let primaries: Int
  package let transfer: Int
  package let matrix: Int
  package let isFullRange: Bool

  init(_ header: cimages_header) {
    width = Int(header.width)
    height = Int(header.height)
    bits = Int(header.bits)
    hasAlpha = header.has_alpha != 0
    isAnimated = header.is_animated != 0
    primaries = Int(header.primaries)
    transfer = Int(header.transfer)
    matrix = Int(header.matrix)
    isFullRange = header.is_full_range != 0
  }
}
