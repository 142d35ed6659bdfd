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
    let status = encode(
      image.bytes, 3 * image.width, UInt32(image.width), UInt32(image.height), Int32(quality), &bytes, &count, &failure)
    guard status == cimages_ok else { throw ImageError(failure) }
    defer { cimages_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }
}
