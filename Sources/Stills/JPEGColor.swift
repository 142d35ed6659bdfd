internal import CJPEG

/// How a JPEG's numbers mean colours.
package enum JPEGColor: Hashable, Sendable {
  case grey
  /// YCbCr of the full range (JFIF 1.02).
  case ycbcr
  case rgb
  /// Printing inks, YCCK included; as Adobe's programs write them, 255 is no ink.
  case cmyk(isInverted: Bool)

  init(_ header: cjpeg_header) {
    self =
      switch header.color {
      case cjpeg_grey: .grey
      case cjpeg_rgb: .rgb
      case cjpeg_cmyk: .cmyk(isInverted: header.is_inverted != 0)
      default: .ycbcr
      }
  }
}
