internal import CImages

/// The header of a JPEG image.
package struct JPEGHeader: Hashable, Sendable {
  /// The number of pixels in a row as stored; the Exif orientation is not applied.
  package let width: Int
  /// The number of rows, as stored.
  package let height: Int
  /// The number of pixels in a row as it is decoded: `width`, or eighths of it, rounded up.
  package let decodedWidth: Int
  /// The number of rows as they are decoded.
  package let decodedHeight: Int
  /// The number of components: 1 for grey, 3 for colour, 4 for CMYK.
  package let components: Int
  package let color: JPEGColor
}

/// The colour space of a JPEG image.
package enum JPEGColor: Hashable, Sendable {
  case grey
  /// Full-range YCbCr (JFIF 1.02).
  case ycbcr
  case rgb
  /// CMYK, or YCCK, which is decoded to CMYK; 255 means no ink.
  case cmyk

  init(_ header: cjpeg_header) {
    self =
      switch header.color {
      case cjpeg_grey: .grey
      case cjpeg_rgb: .rgb
      case cjpeg_cmyk: .cmyk
      default: .ycbcr
      }
  }
}

/// The size of one component of a JPEG image as it is decoded.
package struct JPEGComponent: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// The number of bytes of a decoded row, including padding.
  package let rowBytes: Int
  /// The number of rows in a band.
  package let bandRows: Int

  init(_ component: cjpeg_component) {
    width = Int(component.width)
    height = Int(component.height)
    rowBytes = Int(component.row_bytes)
    bandRows = Int(component.band_rows)
  }
}

/// The limits of a JPEG decoder. Those on pixels are compared with the header before anything is decoded.
package struct JPEGLimits: Hashable, Sendable {
  /// The maximum number of pixels that are decoded.
  package let pixels: Int
  /// The maximum number of pixels of an image in one scan, at least `pixels`: a larger one is decoded at as many eighths of its
  /// width and height as `pixels` allows.
  package let headerPixels: Int
  /// The maximum number of pixels of an image in several scans: libjpeg buffers its coefficients, about six bytes per
  /// pixel.
  package let bufferedPixels: Int
  /// The maximum number of scans; each costs a pass over all pixels.
  package let scans: Int

  /// Encoders write about ten scans.
  package static let maxScans = 64

  package init(pixels: Int, headerPixels: Int? = nil, bufferedPixels: Int? = nil, scans: Int = maxScans) {
    precondition(pixels > 0 && scans > 0, "a limit is not positive")
    self.pixels = pixels
    self.headerPixels = max(pixels, headerPixels ?? pixels)
    self.bufferedPixels = bufferedPixels ?? pixels
    self.scans = scans
  }
}
