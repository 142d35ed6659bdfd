internal import CHEIFFixture
internal import CJPEGReference
internal import Glibc
package import Stills

/// Photo files for tests.
package enum PhotoFixture {
  /// Returns an image whose pixels are computed by a function.
  package static func image(
    width: Int, height: Int, _ pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8)
  ) -> RGBImage {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        let (red, green, blue) = pixel(x, y)
        bytes += [red, green, blue]
      }
    }
    return RGBImage(width: width, height: height, bytes: bytes)
  }

  /// Returns an image of four flat quarters: red, green, blue and yellow, row by row.
  package static func quarters(width: Int, height: Int) -> RGBImage {
    image(width: width, height: height) { x, y in
      switch (x < width / 2, y < height / 2) {
      case (true, true): (220, 30, 30)
      case (false, true): (30, 180, 30)
      case (true, false): (30, 30, 220)
      case (false, false): (230, 220, 40)
      }
    }
  }

  /// Returns Exif data with an orientation, a maker, and optionally a GPS position.
  package static func exif(orientation: Int, hasPosition: Bool = false) -> [UInt8] {
    func field(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
      [UInt8(tag >> 8), UInt8(tag & 255), 0, UInt8(type), 0, 0, 0, UInt8(count)]
        + value + [UInt8](repeating: 0, count: 4 - value.count)
    }
    var fields = [
      field(0x010F, 2, 4, Array("Eye\0".utf8)), field(0x0112, 3, 1, [0, UInt8(orientation)]),
    ]
    let directory = 8 + 2 + 12 * (hasPosition ? 3 : 2) + 4
    if hasPosition { fields.append(field(0x8825, 4, 1, [0, 0, 0, UInt8(directory)])) }
    let position = [0, 1] + field(0x0001, 2, 2, Array("N\0".utf8)) + [0, 0, 0, 0]
    return Array("MM\0*".utf8) + [0, 0, 0, 8, 0, UInt8(fields.count)] + fields.joined() + [0, 0, 0, 0]
      + (hasPosition ? position : [])
  }

  /// Encodes a baseline JPEG with Exif data.
  package static func jpeg(_ image: RGBImage, exif: [UInt8] = [], quality: Int = 95) throws -> [UInt8] {
    let bytes = try libjpeg(image, quality: quality, halvesChroma: false)
    guard !exif.isEmpty else { return bytes }
    let content = Array("Exif\0\0".utf8) + exif
    let length = content.count + 2
    return bytes.prefix(2) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content + bytes.dropFirst(2)
  }

  /// Encodes a JPEG by libjpeg.
  package static func libjpeg(
    _ image: RGBImage, quality: Int, halvesChroma: Bool = true, isProgressive: Bool = false
  ) throws -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    defer { free(bytes) }
    guard
      cjpegreference_encode(
        image.bytes, Int32(image.width), Int32(image.height), Int32(quality), halvesChroma ? 1 : 0,
        isProgressive ? 1 : 0, &bytes, &count) == 0
    else { throw JPEGError.outOfMemory }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Encodes a JPEG of one colour whose samples are stored as they are, with segments behind its start.
  ///
  /// - Parameters:
  ///   - samples: those of each pixel, one to four.
  ///   - ids: those of the components.
  ///   - segments: each with its marker and length.
  package static func jpeg(
    samples: [UInt8], ids: [UInt8], segments: [[UInt8]] = [], width: Int = 64, height: Int = 48
  ) throws -> [UInt8] {
    let rows = (0..<width * height).flatMap { _ in samples }
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    defer { free(bytes) }
    guard
      cjpegreference_encode_samples(
        rows, Int32(width), Int32(height), Int32(samples.count), ids, 100, &bytes, &count) == 0
    else { throw JPEGError.outOfMemory }
    let plain = Array(UnsafeBufferPointer(start: bytes, count: count))
    return Array(plain.prefix(2) + segments.joined() + plain.dropFirst(2))
  }

  /// A baseline JPEG of one grey, with two bits for each block: no change of the mean, and no more coefficients.
  package static func greyJPEG(width: Int, height: Int) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    bytes += [0xFF, 0xC0, 0, 11, 8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
    bytes += [1, 1, 0x11, 0]
    for table: UInt8 in [0x00, 0x10] { bytes += [0xFF, 0xC4, 0, 20, table, 1] + [UInt8](repeating: 0, count: 16) }
    let blocks = ((width + 7) / 8) * ((height + 7) / 8)
    bytes += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0] + [UInt8](repeating: 0, count: (2 * blocks + 7) / 8)
    return bytes + [0xFF, 0xD9]
  }

  /// The segment of JFIF (JFIF 1.02).
  package static let jfif: [UInt8] = [0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 0, 0]

  /// Adobe's segment (ITU-T T.872, 6.5.3): 0, RGB or CMYK; 1, YCbCr; 2, YCCK.
  package static func adobe(transform: UInt8) -> [UInt8] {
    [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform]
  }

  /// The columns and rows of each pass of an interlaced PNG: the first ones and the steps (PNG 3, 8.2).
  private static let passes: [(x: Int, y: Int, columns: Int, rows: Int)] = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
  ]

  /// Encodes a PNG of RGBA samples, 8 or 16 bits each, with uncompressed deflate blocks (PNG 3, RFC 1950, RFC 1951).
  package static func png(
    width: Int, height: Int, bits: Int = 8, isInterlaced: Bool = false, _ pixel: (_ x: Int, _ y: Int) -> [UInt16]
  ) -> [UInt8] {
    var rows: [UInt8] = []
    for pass in isInterlaced ? passes : [(0, 0, 1, 1)] where pass.x < width {
      for y in stride(from: pass.y, to: height, by: pass.rows) {
        rows.append(0)
        for x in stride(from: pass.x, to: width, by: pass.columns) {
          for sample in pixel(x, y) {
            rows += bits == 16 ? [UInt8(sample >> 8), UInt8(sample & 255)] : [UInt8(sample)]
          }
        }
      }
    }
    var data: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: rows.count, by: 65535) {
      let block = rows[start..<min(start + 65535, rows.count)]
      let count = UInt16(block.count)
      data.append(start + 65535 >= rows.count ? 1 : 0)
      for value in [count, ~count] { data += [UInt8(value & 255), UInt8(value >> 8)] }
      data += block
    }
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in rows {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    data += big(b << 16 | a)
    let header = big(UInt32(width)) + big(UInt32(height)) + [UInt8(bits), 6, 0, 0, isInterlaced ? 1 : 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", data)
      + chunk("IEND", [])
  }

  private static func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

  /// Returns a chunk with its checksum.
  package static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    var remainder: UInt32 = 0xFFFF_FFFF
    for byte in body {
      remainder ^= UInt32(byte)
      for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
    }
    return big(UInt32(content.count)) + body + big(~remainder)
  }
}

extension PhotoFixture {
  /// The formats of `photo(in:)` that the built-in definitions accept; `gif` is another one.
  package static let formats = ["jpeg", "progressive", "png", "webp", "avif", "heic"]

  /// Returns a photo with some detail.
  package static func photo(in format: String, width: Int = 96, height: Int = 64) throws -> [UInt8] {
    let image = image(width: width, height: height) { x, y in
      (UInt8(x * 2 % 256), UInt8(y * 3 % 256), UInt8(x * y % 256))
    }
    switch format {
    case "jpeg": return try jpeg(image, exif: exif(orientation: 6, hasPosition: true))
    case "progressive": return try libjpeg(image, quality: 90, isProgressive: true)
    case "png":
      return png(width: width, height: height) { x, y in
        [x * 2, y * 3, 7, 255 - y % 256].map { UInt16($0 % 256) }
      }
    case "webp": return try ImageEncoder.webp.encode(image, quality: 90)
    case "heic": return try heic(image)
    case "gif":
      let colors = (0..<256).flatMap { value in [UInt8(value), UInt8(255 - value), UInt8(value / 2)] }
      let pixels = GIFFile.Image(width: width, height: height) { x, y in UInt8((x * 2 + y * 3) % 256) }
      return GIFFile(width: width, height: height, colors: colors, images: [pixels]).bytes
    default: return try ImageEncoder.avif.encode(image, quality: 90)
    }
  }

  /// Returns a photo with a few bits flipped at positions that depend on a seed.
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

  /// Encodes a HEIC or AVIF image.
  package static func heic(_ image: RGBImage, isAVIF: Bool = false, bits: Int = 8) throws -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    defer { free(bytes) }
    guard
      cheiffixture_encode(
        image.bytes, UInt32(image.width), UInt32(image.height), isAVIF ? 1 : 0, Int32(bits), 90, &bytes, &count) == 0,
      let bytes
    else { throw ImageError.unsupported("libheif has no such encoder") }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}
