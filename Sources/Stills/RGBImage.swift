internal import CImages

/// An image of 24-bit sRGB pixels, row by row without padding.
package struct RGBImage: Hashable, Sendable {
  /// The number of pixels in a row, at least 1.
  package let width: Int
  /// The number of rows, at least 1.
  package let height: Int
  /// The pixels, three bytes each: red, green, blue.
  package var bytes: [UInt8]

  package init(width: Int, height: Int, bytes: [UInt8]) {
    precondition(width > 0 && height > 0 && bytes.count == 3 * width * height, "the size does not match the bytes")
    self.width = width
    self.height = height
    self.bytes = bytes
  }

  /// Calls `body` with a view of the pixels, valid during the call.
  package func withView<Result, Failure: Error>(
    _ body: (RGBView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
      // An image has at least one pixel, so the array has an address.
      try body(RGBView(base: bytes.baseAddress!, stride: 3 * width, width: width, height: height))
    }
  }
}

/// A read-only view of 24-bit sRGB pixels, in memory that the caller owns.
package struct RGBView {
  /// The first byte of the top row.
  package let base: UnsafeRawPointer
  /// The distance in bytes between rows, at least three times the width.
  package let stride: Int
  /// The number of pixels in a row, at least 1.
  package let width: Int
  /// The number of rows, at least 1.
  package let height: Int

  package init(base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    precondition(width > 0 && height > 0 && stride >= 3 * width, "the size does not match the stride")
    self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }
}

/// The dominant colour of an image: the mean of the pixels in the fullest of 512 equal parts of the RGB cube.
package struct DominantColor: Hashable, Sendable {
  package let red: UInt8
  package let green: UInt8
  package let blue: UInt8

  package init(_ image: RGBImage) {
    var sums = [SIMD4<Int>](repeating: .zero, count: 512)
    for at in stride(from: 0, to: image.bytes.count, by: 3) {
      let (r, g, b) = (Int(image.bytes[at]), Int(image.bytes[at + 1]), Int(image.bytes[at + 2]))
      sums[(r >> 5) << 6 | (g >> 5) << 3 | b >> 5] &+= SIMD4(r, g, b, 1)
    }
    let fullest = sums.max { $0.w < $1.w } ?? .zero
    let count = max(1, fullest.w)
    (red, green, blue) = (UInt8(fullest.x / count), UInt8(fullest.y / count), UInt8(fullest.z / count))
  }

  /// The colour in CSS notation, `#rrggbb`.
  package var hexadecimal: String {
    "#"
      + [red, green, blue].map { component in
        let text = String(component, radix: 16)
        return component < 16 ? "0\(text)" : text
      }.joined()
  }
}

/// An encoder of WebP or AVIF images without metadata.
package enum ImageEncoder: Sendable {
  case webp
  case avif

  /// Encodes an image with a quality of 1 to 100. The same pixels and quality give the same bytes.
  package func encode(_ image: RGBImage, quality: Int) throws(ImageError) -> [UInt8] {
    var failure = cimages_failure()
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    if self == .avif { HEIFLibrary.load() }
    let encode = self == .webp ? cimages_encode_webp : cimages_encode_avif
    let status = image.withView { view in
      encode(
        view.base.assumingMemoryBound(to: UInt8.self), view.stride, UInt32(view.width), UInt32(view.height),
        Int32(quality), &bytes, &count, &failure)
    }
    guard status == cimages_ok else { throw ImageError(failure) }
    defer { cimages_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }
}
