/// Rows of 24-bit RGB pixels that somebody else owns, to be read: sRGB, three bytes a pixel.
package struct RGBView {
  /// The first byte of the top row.
  package let base: UnsafeRawPointer
  /// Bytes from one row to the next, at least three times the width.
  package let stride: Int
  /// Pixels in a row, at least 1.
  package let width: Int
  /// The number of rows, at least 1.
  package let height: Int

  package init(base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    precondition(width > 0 && height > 0 && stride >= 3 * width, "no picture has this size")
    self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }
}
