internal import CHEIFFixture
internal import Glibc
package import Stills

extension PhotoFixture {
  /// One small photo in each format that is taken, as `photo(in:)` names them.
  package static let formats = ["jpeg", "progressive", "png", "webp", "avif", "heic"]

  /// A photo with some detail.
  package static func photo(in format: String, width: Int = 96, height: Int = 64) throws -> [UInt8] {
    let image = image(width: width, height: height) { x, y in
      (UInt8(x * 2 % 256), UInt8(y * 3 % 256), UInt8(x * y % 256))
    }
    switch format {
    case "jpeg": return try jpeg(image, exif: exif(orientation: 6, hasPlace: true))
    case "progressive": return try JPEGEncoder(quality: 90).encode(image)
    case "png": return png(width: width, height: height) { x, y in [UInt16(x * 2), UInt16(y * 3), 7, UInt16(255 - y)] }
    case "webp": return try ImageEncoder.webp.encode(image, quality: 90)
    case "heic": return try heic(image)
    default: return try ImageEncoder.avif.encode(image, quality: 90)
    }
  }

  /// A photo with a few bits flipped, by a seed.
  package static func damaged(_ photo: [UInt8], seed: UInt64) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    var bytes = photo
    for _ in 0...next(4) { bytes[next(bytes.count)] ^= UInt8(1 << next(8)) }
    return bytes
  }

  /// A HEIC.
  package static func heic(_ image: RGBImage) throws -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    defer { free(bytes) }
    guard
      cheiffixture_encode(image.bytes, UInt32(image.width), UInt32(image.height), 90, &bytes, &count) == 0, let bytes
    else { throw ImageError.unsupported("no HEVC encoder in libheif") }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}
