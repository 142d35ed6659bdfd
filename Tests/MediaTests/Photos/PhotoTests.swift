import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("Photos", .tags(.media))
struct PhotoTests {
  static let red = SIMD3(220, 30, 30)
  static let green = SIMD3(30, 180, 30)
  static let blue = SIMD3(30, 30, 220)
  static let yellow = SIMD3(230, 220, 40)

  /// The quarters red, green, blue and yellow after each Exif orientation, row by row (TIFF 6.0, "Orientation").
  static let oriented: [Int: [SIMD3<Int>]] = [
    1: [red, green, blue, yellow], 2: [green, red, yellow, blue], 3: [yellow, blue, green, red],
    4: [blue, yellow, red, green], 5: [red, blue, green, yellow], 6: [blue, red, yellow, green],
    7: [yellow, green, blue, red], 8: [green, yellow, red, blue],
  ]

  @Test("all eight Exif orientations become upright, scaled down or not", arguments: 1...8, [64, 1000])
  func orientations(orientation: Int, longEdge: Int) throws {
    let image = PhotoFixture.quarters(width: 220, height: 140)
    let run = try PhotoCase(
      PhotoFixture.jpeg(image, exif: PhotoFixture.exif(orientation: orientation)),
      variants: [.photoLarge: PhotoVariant(longEdge: longEdge, quality: 95)])
    let isSwapped = orientation > 4
    let display = isSwapped ? Size(width: 140, height: 220) : Size(width: 220, height: 140)
    #expect(run.report.facts?.display == display)
    let output = try run.decodedImage()
    let scale = min(1, Double(longEdge) / 220)
    #expect(output.width == Int((Double(display.width) * scale).rounded()))
    #expect(output.height == Int((Double(display.height) * scale).rounded()))
    for (found, expected) in zip(output.quarters, try #require(Self.oriented[orientation])) {
      #expect(distance(found, expected) <= 4, "\(found) instead of \(expected)")
    }
  }

  @Test("location and device metadata is reported, and no output holds it")
  func privacy() throws {
    let image = PhotoFixture.quarters(width: 80, height: 60)
    let run = try PhotoCase(PhotoFixture.jpeg(image, exif: PhotoFixture.exif(orientation: 1, hasPosition: true)))
    let found = try #require(run.report.facts?.identifying)
    #expect(found.map(\.kind) == [.device, .place])
    let bytes = try run.bytes(.photoLarge)
    for word in ["Exif", "Eye"] { #expect(!bytes.contains(Array(word.utf8)), "\(word)") }
  }

  @Test("variants have their sizes, squares are cropped from the centre, and nothing is enlarged")
  func variants() throws {
    let image = PhotoFixture.image(width: 900, height: 300) { x, _ in
      x < 300 ? (220, 30, 30) : x < 600 ? (30, 180, 30) : (30, 30, 220)
    }
    let run = try PhotoCase(
      PhotoFixture.jpeg(image),
      variants: [
        .photoLarge: PhotoVariant(longEdge: 2048, quality: 90), .photoMedium: PhotoVariant(longEdge: 500, quality: 80),
        .photoSmall: PhotoVariant(longEdge: 33, quality: 80), .photoSquare: PhotoVariant(square: 150, quality: 80),
        .avatar: PhotoVariant(square: 512, quality: 80),
      ])
    let sizes = Dictionary(
      uniqueKeysWithValues: run.report.outputs.map { ($0.role, Size(width: $0.width, height: $0.height)) })
    #expect(
      sizes == [
        .photoLarge: Size(width: 900, height: 300), .photoMedium: Size(width: 500, height: 167),
        .photoSmall: Size(width: 33, height: 11), .photoSquare: Size(width: 150, height: 150),
        .avatar: Size(width: 300, height: 300),
      ])
    for role in [Role.photoSquare, .avatar] {
      for color in try run.decodedImage(role).quarters { #expect(distance(color, Self.green) <= 6) }
    }
    #expect(run.report.thumbhash != nil)
  }

  @Test("the size limit of a variant lowers its quality")
  func maxBytes() throws {
    var state: UInt32 = 1
    let noise = PhotoFixture.image(width: 300, height: 200) { _, _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return (UInt8(state >> 24), UInt8(state >> 16 & 255), UInt8(state >> 8 & 255))
    }
    let run = try PhotoCase(
      PhotoFixture.jpeg(noise),
      variants: [
        .photoLarge: PhotoVariant(longEdge: 300, quality: 90),
        .photoSmall: PhotoVariant(longEdge: 300, quality: 90, maxBytes: 20_000),
      ])
    #expect(try run.bytes(.photoLarge).count > 40_000)
    #expect(1...20_000 ~= (try run.bytes(.photoSmall).count))
  }

  @Test("transparency is blended with white, in 8 and in 16 bits", arguments: [8, 16])
  func alpha(bits: Int) throws {
    let full: UInt16 = bits == 16 ? 65535 : 255
    let png = PhotoFixture.png(width: 60, height: 40, bits: bits) { x, _ in
      // One third red, one third half-transparent red, one third transparent.
      x < 20 ? [full, 0, 0, full] : x < 40 ? [full, 0, 0, full / 2] : [0, 0, 0, 0]
    }
    let run = try PhotoCase(png)
    #expect(run.report.facts?.hasAlpha == true && run.report.facts?.bits == bits)
    let output = try run.decodedImage()
    for (x, expected) in [(10, SIMD3(255, 0, 0)), (30, SIMD3(255, 128, 128)), (50, SIMD3(255, 255, 255))] {
      #expect(distance(output.pixel(x, 20), expected) <= 4, "\(output.pixel(x, 20))")
    }
  }

  @Test("variants in WebP and AVIF decode to the same image", arguments: ["webp", "avif"])
  func formats(name: String) throws {
    let format = try #require(PhotoVariant.Format(rawValue: name))
    let image = PhotoFixture.quarters(width: 220, height: 140)
    let run = try PhotoCase(
      PhotoFixture.jpeg(image), variants: [.photoLarge: PhotoVariant(longEdge: 110, quality: 85, format: format)])
    #expect(run.report.outputs.first?.type == "image/\(name)")
    let again = try PhotoCase(try run.bytes(.photoLarge))
    #expect(again.report.facts?.format.rawValue == name)
    #expect(again.report.facts?.display == Size(width: 110, height: 70))
    for (found, expected) in zip(try again.decodedImage().quarters, [Self.red, Self.green, Self.blue, Self.yellow]) {
      #expect(distance(found, expected) <= 8, "\(found) instead of \(expected)")
    }
  }

  @Test("a photo that is too large by its header is refused")
  func limits() throws {
    let jpeg = try PhotoFixture.jpeg(PhotoFixture.quarters(width: 200, height: 100))
    #expect(try PhotoCase(jpeg, limits: PhotoCase.limits(pixels: 19_999)).report.reason?.code == .tooLarge)
    #expect(try PhotoCase(jpeg, limits: PhotoCase.limits(pixels: 20_000)).report.reason == nil)
    var limits = PhotoCase.limits()
    limits.bytes = Int64(jpeg.count)
    #expect(try PhotoCase(jpeg, limits: limits).report.reason == nil)
    limits.bytes -= 1
    #expect(try PhotoCase(jpeg, limits: limits).report.reason?.code == .tooLarge)
    let png = PhotoFixture.png(width: 200, height: 100) { _, _ in [1, 2, 3, 255] }
    #expect(try PhotoCase(png, limits: PhotoCase.limits(pixels: 19_999)).report.reason?.code == .tooLarge)
    #expect(try PhotoCase([]).report.reason?.code == .emptyFile)
    #expect(try PhotoCase(Array("GIF89a".utf8) + [0, 0, 0]).report.reason?.code == .unsupportedContainer)
  }

  @Test("each limit of size has its own message, with the size that was found")
  func sizeMessages() throws {
    func detail(_ bytes: [UInt8], pixels: Int = 1 << 24, progressive: Int = 1 << 24) throws -> String {
      let limits = PhotoLimits(
        bytes: 1 << 24, pixels: pixels, progressivePixels: progressive, formats: PhotoFormat.allCases)
      let reason = try #require(try PhotoCase(bytes, limits: limits).report.reason)
      #expect(reason.code == .tooLarge)
      return reason.detail
    }
    let baseline = try PhotoFixture.libjpeg(PhotoFixture.quarters(width: 200, height: 100), quality: 80)
    let progressive = try PhotoFixture.libjpeg(
      PhotoFixture.quarters(width: 200, height: 100), quality: 80, isProgressive: true)
    let header = "ts header declares"
    for bytes in try [baseline, progressive]
      + ["png", "webp", "heic", "avif"].map({
        try PhotoFixture.photo(in: $0, width: 200, height: 100)
      })
    {
      let found = try detail(bytes, pixels: 19_999, progressive: 10_000)
      #expect(found.contains("\(header) 200x100 pixels; at most 19999 in total are accepted"), "\(found)")
    }
    let buffered = try detail(progressive, pixels: 30_000, progressive: 19_999)
    #expect(
      buffered.contains(
        "\(header) a progressive JPEG of 200x100 pixels; at most 19999 in total are accepted of such a one, and 30000 of"
      ),
      "\(buffered)")
    let png = PhotoFixture.png(width: 65501, height: 1) { _, _ in [1, 2, 3, 255] }
    #expect(try detail(png).contains("\(header) 65501x1 pixels; an edge of at most 65500 is accepted"))
    // The frame header: marker, length, number of bits, height and width.
    var long = baseline
    let frame = try #require(long.indices.dropLast().first { long[$0] == 0xFF && long[$0 + 1] == 0xC0 })
    long.replaceSubrange(frame + 5..<frame + 9, with: [0, 1, 0xFF, 0xFF])
    #expect(try detail(long).contains("\(header) 65535x1 pixels; an edge of at most 65500 is accepted"))
  }

  @Test("a PNG is turned by its Exif wherever it has them, in front of the pixels or behind", arguments: [true, false])
  func exifOfPNG(isInFront: Bool) throws {
    let png = PhotoFixture.png(width: 40, height: 30) { _, _ in [1, 2, 3, 255] }
    let exif = PhotoFixture.chunk("eXIf", PhotoFixture.exif(orientation: 6, hasPosition: true))
    // The header ends after 33 bytes, and the chunk at the end has twelve.
    let place = isInFront ? 33 : png.count - 12
    let facts = try #require(try PhotoCase(png[..<place] + exif + png[place...]).report.facts)
    #expect(facts.display == Size(width: 30, height: 40) && facts.transform.rotation == .quarter)
    #expect(facts.identifying.map(\.kind) == [.device, .place])
  }

  @Test("a PNG with an edge of more than 65500 pixels is refused, as a JPEG is")
  func edges() throws {
    for (width, height) in [(65501, 1), (1, 65501)] {
      let png = PhotoFixture.png(width: width, height: height) { _, _ in [1, 2, 3, 255] }
      #expect(try PhotoCase(png).report.reason?.code == .tooLarge)
    }
    let png = PhotoFixture.png(width: 65500, height: 1) { _, _ in [1, 2, 3, 255] }
    #expect(try PhotoCase(png).report.reason == nil)
  }

  @Test("a JPEG with more scans than encoders write is refused", arguments: [64, 65])
  func scans(count: Int) throws {
    // Eight by eight pixels in three components, tables with a single code, and a scan for a component at a time.
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    bytes += [0xFF, 0xC0, 0, 17, 8, 0, 8, 0, 8, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
    for table: UInt8 in [0x00, 0x10] { bytes += [0xFF, 0xC4, 0, 20, table, 1] + [UInt8](repeating: 0, count: 16) }
    for scan in 1...count { bytes += [0xFF, 0xDA, 0, 8, 1, UInt8(min(scan, 3)), 0, 0, 63, 0, 0b0011_1111] }
    let reason = try PhotoCase(bytes + [0xFF, 0xD9]).report.reason
    #expect(reason?.code == (count > 64 ? .corruptImage : nil), "\(String(describing: reason))")
  }

  @Test("the refusal of a file that is not a photo names its format and a remedy")
  func signatures() throws {
    let clip = Array("\0\0\0\u{10}ftypisom\0\0\0\0".utf8)
    for (bytes, words) in [
      (Array("GIF89a".utf8) + [0, 0, 0], ["a GIF image", "JPEG, HEIF, AVIF, PNG, WebP", "as JPEG"]),
      (clip, ["an MP4 video", "Send the photo, not a clip"]),
    ] {
      let reason = try #require(try PhotoCase(bytes).report.reason)
      #expect(reason.code == .unsupportedContainer)
      for word in words { #expect(reason.detail.contains(word), "\(reason.detail)") }
    }
  }

  @Test("the same photo gives the same bytes")
  func sameBytes() throws {
    let jpeg = try PhotoFixture.jpeg(PhotoFixture.quarters(width: 333, height: 222))
    let variants: [Role: PhotoVariant] = [
      .photoLarge: PhotoVariant(longEdge: 200, quality: 80), .photoSquare: PhotoVariant(square: 50, quality: 80),
      .photoSmall: PhotoVariant(longEdge: 64, quality: 80, format: .avif),
    ]
    let runs = try (0..<2).map { _ in try PhotoCase(jpeg, variants: variants) }
    #expect(runs[0].report == runs[1].report)
    for role in variants.keys { #expect(try runs[0].bytes(role) == runs[1].bytes(role)) }
  }
}

extension [UInt8] {
  /// Whether the array contains a subsequence of bytes.
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: part) }
  }
}
