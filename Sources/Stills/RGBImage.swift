/// A picture of 24-bit RGB pixels, row by row without padding.
package struct RGBImage: Hashable, Sendable {
  /// Pixels in a row, at least 1.
  package let width: Int
  /// The number of rows, at least 1.
  package let height: Int
  /// Three bytes a pixel: red, green, blue.
  package var bytes: [UInt8]

  package init(width: Int, height: Int, bytes: [UInt8]) {
    precondition(width > 0 && height > 0 && bytes.count == 3 * width * height, "no picture has this size")
    self.width = width
    self.height = height
    self.bytes = bytes
  }

  /// Lends the pixels to a function that takes a view.
  package func withView<Result, Failure: Error>(
    _ body: (RGBView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
      // A picture has at least one pixel, so the array has an address.
      try body(RGBView(base: bytes.baseAddress!, stride: 3 * width, width: width, height: height))
    }
  }
}
