import Model
import StreamValidation
import Testing

@Suite("Photos that arrive")
struct ArrivingPhotoTests {
  private let builtIn: BuiltIn

  init() throws { builtIn = try BuiltIn() }

  private func check(_ file: [UInt8], _ code: ReasonCode?, at offset: Int64?) {
    let found = refusal(of: file, builtIn.any)
    #expect(found?.reason.code == code)
    if let offset { #expect(found?.offset == offset) }
    if code != nil { #expect(found?.reason.input == .photo) }
  }

  // MARK: JPEG

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + short(content.count + 2) + content
  }

  private static func frame(
    _ marker: UInt8 = 0xC0, bits: UInt8 = 8, width: Int = 640, height: Int = 480, components: Int = 3,
    factors: UInt8 = 0x11
  ) -> [UInt8] {
    var content = [bits]
    content += short(height) + short(width)
    content.append(UInt8(components))
    for component in 0..<components { content += [UInt8(component + 1), factors, 0] }
    return segment(marker, content)
  }

  private static func scan(_ components: Int = 3) -> [UInt8] {
    var content = [UInt8(components)]
    for component in 0..<components { content += [UInt8(component + 1), 0] }
    return segment(0xDA, content + [0, 63, 0]) + [1, 0xFF, 0, 2]
  }

  private static let start: [UInt8] = [0xFF, 0xD8]
  private static let application = segment(0xE0, zeros(14))
  private static let end: [UInt8] = [0xFF, 0xD9]

  @Test(
    "JPEG: images that may be decoded are accepted",
    arguments: [
      start + application + frame() + scan() + end,
      start + application + frame() + scan() + [0xFF, 0xD0, 5] + end + zeros(100),
      start + application + frame(0xC2, width: 6000, height: 5000) + scan() + scan(1) + end,
      start + application + frame(0xC9, components: 1) + scan(1) + end,
      start + [0xFF, 0xFF] + application + segment(0xFE, zeros(9)) + frame(components: 4) + scan(4) + end,
      // A comment that is shorter than its length, which libjpeg passes over.
      start + [0xFF, 0xFE, 0, 0] + frame() + scan() + end,
      // Bytes between segments, which libjpeg passes over too.
      start + application + [1, 2, 3] + frame() + scan() + end,
      start + application + [0xFF, 0, 3] + frame() + scan() + end,
      // No end: only a decoder sees whether all blocks are there.
      start + application + frame() + scan(), start + application + frame() + scan() + [0xFF],
      // Markers in a scan are not judged.
      start + application + frame() + scan() + [0xFF, 0xC3, 0, 2, 0xFF, 2] + end,
      start + application + frame() + (0..<70).flatMap { _ in segment(0xDB, zeros(65)) } + scan() + end,
    ])
  func acceptedJPEG(file: [UInt8]) { check(file, nil, at: nil) }

  @Test(
    "JPEG: what libjpeg refuses for certain is refused at its marker",
    arguments: [
      (start + application + frame(0xC3) + scan() + end, .unsupportedCodec, 20),
      (start + application + frame(0xCB) + scan() + end, .unsupportedCodec, 20),
      (start + application + frame(bits: 12) + scan() + end, .unsupportedCodec, 20),
      (start + application + frame(components: 2) + scan() + end, .unsupportedCodec, 20),
      (start + application + frame(width: 8001, height: 8000) + scan() + end, .tooLarge, 20),
      (start + application + frame(width: 65_501, height: 10) + scan() + end, .tooLarge, 20),
      (start + application + frame(0xC2, width: 8000, height: 4001) + scan() + end, .tooLarge, 20),
      (start + application + frame(width: 8000, height: 4001) + scan(1) + end, .tooLarge, 39),
      (start + application + frame(height: 0) + scan() + end, .corruptImage, 20),
      (start + application + frame(components: 11) + scan() + end, .corruptImage, 20),
      (start + application + frame(factors: 0x51) + scan() + end, .corruptImage, 20),
      (start + application + frame() + frame() + scan() + end, .corruptImage, 39),
      (start + application + segment(0xC0, zeros(5)) + scan() + end, .corruptImage, 20),
      (start + application + segment(0xC0, [8, 0, 9, 0, 9, 3, 1, 0x11, 0]) + scan() + end, .corruptImage, 20),
      (start + application + scan() + end, .corruptImage, 20),
      (start + application + frame() + segment(0xDA, zeros(9)) + end, .corruptImage, 39),
      (start + application + end, .corruptImage, 20),
      (start + application + start + frame() + scan() + end, .corruptImage, 20),
      (start + application + segment(0xDF, zeros(9)) + frame() + scan() + end, .corruptImage, 20),
      (start + application + [0xFF, 0x02] + frame() + scan() + end, .corruptImage, 20),
      (start + application + [0xFF, 0xDB, 0, 1] + frame() + scan() + end, .corruptImage, 20),
      (start + frame(0xC2) + (0..<65).flatMap { _ in scan(1) } + end, .corruptImage, nil),
      (start + application, .truncatedContainer, 20),
    ] as [([UInt8], ReasonCode, Int64?)])
  func refusedJPEG(file: [UInt8], code: ReasonCode, offset: Int64?) { check(file, code, at: offset) }

  @Test("JPEG: 64 scans are accepted, and markers without an end take no memory")
  func manyMarkers() throws {
    check(Self.start + Self.frame(0xC2) + (0..<64).flatMap { _ in Self.scan(1) } + Self.end, nil, at: nil)
    let markers = Self.start + (0..<250_000).flatMap { _ in [0xFF, 0xFE, 0, 3, 0] as [UInt8] }
    #expect(
      StreamValidator.refusal(of: markers, builtIn.any, in: .whole, length: nil)?.offset == Int64(markers.count))
  }

  @Test("JPEG: the content of segments is passed over")
  func skipped() {
    var validator = StreamValidator(accepting: builtIn.any, length: nil)
    let file = Self.start + (0..<20).flatMap { _ in Self.segment(0xE2, zeros(60_000)) }
    #expect(file.prefix(2000).withUnsafeBytes { validator.append($0) } == nil)
    #expect(validator.nextOffset == 60_006)
  }

  // MARK: PNG

  private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let bytes = Array(type.utf8) + content
    let rest = bytes.reduce(UInt32.max) { rest, byte in
      (0..<8).reduce(rest ^ UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }
    return number(content.count) + bytes + number(Int(~rest))
  }

  private static func header(
    width: Int = 640, height: Int = 480, bits: UInt8 = 8, color: UInt8 = 2, rest: [UInt8] = [0, 0, 0]
  ) -> [UInt8] {
    chunk("IHDR", number(width) + number(height) + [bits, color] + rest)
  }

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]
  private static let data = chunk("IDAT", zeros(100))
  private static let trailer = chunk("IEND", [])

  @Test(
    "PNG: images that may be decoded are accepted",
    arguments: [
      signature + header() + data + trailer, signature + header() + data + data + trailer + zeros(9),
      signature + header(width: 8000, height: 8000) + data + trailer,
      signature + header(bits: 1, color: 3) + chunk("PLTE", zeros(6)) + data + trailer,
      signature + chunk("abCd", zeros(5)) + header() + chunk("tEXt", zeros(9)) + data + trailer,
    ])
  func acceptedPNG(file: [UInt8]) {
    check(file, nil, at: nil)
    #expect(refusal(of: file, builtIn.any, length: nil) == nil)
  }

  @Test(
    "PNG: what libpng refuses for certain is refused at its chunk",
    arguments: [
      (signature + header(width: 8001, height: 8000) + data + trailer, .tooLarge, 8),
      (signature + header(width: 65_501, height: 1) + data + trailer, .tooLarge, 8),
      (signature + header(width: 0) + data + trailer, .corruptImage, 8),
      (signature + header(bits: 3) + data + trailer, .corruptImage, 8),
      (signature + header(bits: 16, color: 3) + data + trailer, .corruptImage, 8),
      (signature + header(rest: [0, 0, 2]) + data + trailer, .corruptImage, 8),
      (signature + chunk("IHDR", zeros(12)) + data + trailer, .corruptImage, 8),
      (signature + header().dropLast() + [7] + data + trailer, .corruptImage, 8),
      (signature + header() + header() + data + trailer, .corruptImage, 33),
      (signature + data + trailer, .corruptImage, 8), (signature + header() + trailer, .corruptImage, 33),
      // As Apple's programs write for their own devices.
      (signature + chunk("CgBI", zeros(4)) + header() + data + trailer, .corruptImage, 8),
      (signature + header() + chunk("a1cd", zeros(4)) + data + trailer, .corruptImage, 33),
      (signature + header() + [0x80, 0, 0, 0] + Array("teXt".utf8) + zeros(500), .corruptImage, 33),
      (signature + header() + number(0x7FFF_FFFF) + Array("IDAT".utf8) + zeros(500), .truncatedContainer, 33),
      (signature + header() + data, .truncatedContainer, nil),
      ((signature + header() + data + trailer).dropLast(), .truncatedContainer, nil),
    ] as [([UInt8], ReasonCode, Int64?)])
  func refusedPNG(file: [UInt8], code: ReasonCode, offset: Int64?) {
    check(file, code, at: offset)
    #expect(refusal(of: file, builtIn.any, length: nil)?.reason.code == code)
  }

  @Test("PNG: a chunk of 2 GB is passed over while its end is unknown")
  func largeChunk() {
    var validator = StreamValidator(accepting: builtIn.any, length: nil)
    let file = Self.signature + Self.header() + number(0x7FFF_FFFF) + Array("IDAT".utf8) + zeros(1000)
    #expect(file.withUnsafeBytes { validator.append($0) } == nil)
    #expect(validator.nextOffset == 33 + 12 + 0x7FFF_FFFF)
  }

  // MARK: WebP

  private static func webP(_ type: String, _ content: [UInt8], bytes: Int = 1000) -> [UInt8] {
    func little(_ value: Int) -> [UInt8] { number(value).reversed() }
    let chunk = Array(type.utf8) + little(bytes - 20) + content
    return Array("RIFF".utf8) + little(bytes - 8) + Array("WEBP".utf8) + chunk + zeros(bytes - 12 - chunk.count)
  }

  @Test("WebP: images within the limit are accepted, others are refused by their header")
  func webP() {
    func lossy(_ width: Int, _ height: Int) -> [UInt8] {
      [0, 0, 0, 0x9D, 1, 0x2A] + short(width).reversed() + short(height).reversed()
    }
    func lossless(_ width: Int, _ height: Int) -> [UInt8] {
      [0x2F] + number(width - 1 | (height - 1) << 14).reversed()
    }
    func extended(_ width: Int, _ height: Int) -> [UInt8] {
      zeros(4) + number(width - 1).reversed().dropLast() + number(height - 1).reversed().dropLast()
    }
    for (type, content) in [("VP8 ", lossy), ("VP8L", lossless), ("VP8X", extended)] {
      check(Self.webP(type, content(8000, 8000)), nil, at: nil)
      check(Self.webP(type, content(8001, 8000)), .tooLarge, at: 12)
      let cut = Array(Self.webP(type, content(800, 800)).dropLast(10))
      check(cut, type == "VP8X" ? nil : .truncatedContainer, at: nil)
    }
    // Without a start code it is damaged, which the decoder finds.
    check(Self.webP("VP8 ", zeros(6) + short(0xFFFF) + short(0xFFFF)), nil, at: nil)
  }
}
