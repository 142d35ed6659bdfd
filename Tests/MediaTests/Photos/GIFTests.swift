import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("GIF", .tags(.media))
struct GIFTests {
  // Red, green, blue and yellow, as in `PhotoTests`.
  private static let colors = [PhotoTests.red, PhotoTests.green, PhotoTests.blue, PhotoTests.yellow].flatMap {
    [UInt8($0.x), UInt8($0.y), UInt8($0.z)]
  }
  private static let white = SIMD3(255, 255, 255)

  private static func limits(pixels: Int = 1 << 24) -> PhotoLimits {
    PhotoLimits(bytes: 1 << 24, pixels: pixels, progressivePixels: pixels, formats: [.jpeg, .gif])
  }

  private static func run(_ bytes: [UInt8], pixels: Int = 1 << 24) throws -> PhotoCase {
    try PhotoCase(bytes, limits: limits(pixels: pixels))
  }

  /// The four quarters, each in a colour.
  private static func quarters(
    width: Int = 44, height: Int = 28, _ change: (inout GIFFile.Image) -> Void = { _ in }
  ) -> GIFFile.Image {
    var image = GIFFile.Image(width: width, height: height) { x, y in
      (x < width / 2 ? 0 : 1) + (y < height / 2 ? 0 : 2)
    }
    change(&image)
    return image
  }

  private static func file(
    _ images: [GIFFile.Image], width: Int = 44, height: Int = 28, _ change: (inout GIFFile) -> Void = { _ in }
  ) -> GIFFile {
    var file = GIFFile(width: width, height: height, colors: colors, images: images)
    change(&file)
    return file
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let quarters: [SIMD3<Int>]
    let hasAlpha: Bool
    let isAnimated: Bool

    init(
      _ name: String, _ file: GIFFile,
      _ quarters: [SIMD3<Int>] = [PhotoTests.red, PhotoTests.green, PhotoTests.blue, PhotoTests.yellow],
      hasAlpha: Bool = false, isAnimated: Bool = false
    ) {
      (testDescription, bytes, self.quarters) = (name, file.bytes, quarters)
      (self.hasAlpha, self.isAnimated) = (hasAlpha, isAnimated)
    }
  }

  static let cases: [Case] = [
    Case("one image", file([quarters()])),
    Case("interlaced", file([quarters { $0.isInterlaced = true }])),
    Case(
      "interlaced, of few rows",
      file([quarters(height: 3) { $0.isInterlaced = true }], height: 3) { $0.colors += $0.colors }),
    Case(
      "a table of its own, beside the file's",
      file([quarters { $0.colors = [UInt8](colors[3...] + colors[..<3]) }]),
      [PhotoTests.green, PhotoTests.blue, PhotoTests.yellow, PhotoTests.red]),
    Case("a table of its own alone", file([quarters { $0.colors = colors }]) { $0.colors = [] }),
    Case(
      "two colours",
      file([GIFFile.Image(width: 44, height: 28) { x, _ in x < 22 ? 0 : 1 }]) { $0.colors = [UInt8](colors[..<6]) },
      [PhotoTests.red, PhotoTests.green, PhotoTests.red, PhotoTests.green]),
    Case(
      "a colour behind its own table, which is black",
      file([
        {
          var image = GIFFile.Image(width: 44, height: 28) { x, y in x < 22 ? 0 : y < 14 ? 1 : 200 }
          image.colors = colors
          return image
        }()
      ]) { $0.colors = [UInt8](repeating: 90, count: 768) },
      [PhotoTests.red, PhotoTests.green, PhotoTests.red, SIMD3(0, 0, 0)]),
    Case(
      "256 colours, and more strings than codes",
      file(
        [GIFFile.Image(width: 400, height: 400) { x, y in UInt8(((x * 7 + y * x * 13) ^ (y * 5)) & 3) }], width: 400,
        height: 400
      ) {
        $0.colors = [UInt8](repeating: 90, count: 768)
      }, Array(repeating: SIMD3(90, 90, 90), count: 4)),
    Case(
      "a transparent colour", file([quarters { $0.transparent = 1 }]),
      [PhotoTests.red, white, PhotoTests.blue, PhotoTests.yellow], hasAlpha: true),
    Case(
      "smaller than the canvas, whose colour is not drawn",
      file([GIFFile.Image(width: 22, height: 14) { _, _ in 3 }]) { $0.background = 2 },
      [PhotoTests.yellow, white, white, white],
      hasAlpha: true),
    Case(
      "at an offset",
      file([
        {
          var image = GIFFile.Image(width: 22, height: 14) { _, _ in 2 }
          (image.left, image.top) = (22, 14)
          return image
        }()
      ]), [white, white, white, PhotoTests.blue], hasAlpha: true),
    Case("larger than the canvas", file([quarters(width: 88, height: 56)]), Array(repeating: PhotoTests.red, count: 4)),
    Case(
      "an animation, whose second image is another",
      file([quarters(), GIFFile.Image(width: 44, height: 28) { _, _ in 3 }]),
      isAnimated: true),
    Case(
      "texts in front of the image",
      file([quarters()]) {
        $0.extensions = GIFFile.text(0xFE, String(repeating: "by Ada ", count: 99)) + GIFFile.text(0xFF, "NETSCAPE2.0")
      }),
  ]

  @Test("the first image is shown on its canvas", arguments: cases)
  func shown(example: Case) throws {
    let run = try Self.run(example.bytes)
    #expect(run.report.reason == nil)
    let facts = try #require(run.report.facts)
    #expect(facts.format == .gif && facts.hasAlpha == example.hasAlpha && facts.isAnimated == example.isAnimated)
    for (found, expected) in zip(try run.decodedImage().quarters, example.quarters) {
      #expect(distance(found, expected) <= 12, "\(found) instead of \(expected)")
    }
  }

  @Test("an image that is read alone reads the same", arguments: cases)
  func alone(example: Case) throws {
    let image = try GIFImage(example.bytes, pixels: 1 << 24)
    let again = try GIFImage(image.picture.bytes, pixels: 1 << 24)
    #expect(again.picture.bytes == image.picture.bytes && !again.isAnimated && again.texts.isEmpty)
    #expect((again.width, again.height) == (image.picture.width, image.picture.height))
  }

  @Test("texts are reported, and no output holds them")
  func texts() throws {
    let file = Self.file([Self.quarters()]) {
      $0.extensions = GIFFile.text(0xFE, "by Ada") + GIFFile.text(0xFF, "XMP DataXMP")
    }
    #expect(try Self.run(file.bytes).report.facts?.identifying.map(\.key) == ["Comment", "XMP"])
  }

  @Test("a definition that does not name the format refuses it")
  func unnamed() throws {
    let reason = try #require(try PhotoCase(Self.file([Self.quarters()]).bytes).report.reason)
    #expect(reason.code == .unsupportedContainer && reason.detail.contains("a GIF image"))
  }

  @Test("a file that is cut anywhere is refused, unless its first image is whole")
  func cut() throws {
    let one = Self.file([Self.quarters()]).bytes
    let whole = Self.file([Self.quarters(), Self.quarters()]).bytes
    for count in 16..<whole.count {
      let code = try Self.run(Array(whole.prefix(count))).report.reason?.code
      // Behind the image, only the end of the file is missing.
      #expect((code == nil) == (count >= one.count - 1), "\(count): \(String(describing: code))")
      if code != nil { #expect(code == .truncatedContainer || code == .corruptImage, "\(count)") }
    }
  }

  @Test("codes for too few pixels, and a code without a meaning, are damage")
  func codes() throws {
    var short = Self.quarters()
    short.height = 27
    var bytes = Self.file([short]).bytes
    // The rows that the header of the image states: as many as the file has, plus the table, plus seven bytes.
    bytes[13 + 12 + 7] = 28
    #expect(try Self.run(bytes).report.reason?.code == .truncatedContainer)
    // Eight times one bit: code 7, which nothing defines, where codes begin.
    var unknown = Self.file([Self.quarters()]).bytes
    unknown[13 + 12 + 10 + 2] = 0xFF
    #expect(try Self.run(unknown).report.reason?.code == .corruptImage)
  }

  @Test("an edge of no pixels is damage, and no table of colours", arguments: 0..<5)
  func empty(index: Int) throws {
    var bytes = Self.file([Self.quarters()]).bytes
    // The edges of the canvas, those of the image, and the mark of the table.
    let offset = [6, 8, 13 + 12 + 5, 13 + 12 + 7, 10][index]
    bytes[offset] = 0
    if index < 4 { bytes[offset + 1] = 0 } else { bytes.removeSubrange(13..<25) }
    #expect(try Self.run(bytes).report.reason?.code == .corruptImage)
  }

  @Test("more pixels than the limit are refused by the headers of the canvas and of the image")
  func pixels() throws {
    let file = Self.file([Self.quarters()]).bytes
    #expect(try Self.run(file, pixels: 44 * 28).report.reason?.detail == nil)
    let reason = try #require(try Self.run(file, pixels: 44 * 28 - 1).report.reason)
    #expect(reason.detail.contains("ts header declares 44x28 pixels; at most 1231 in total are accepted"))
    let large = Self.file([Self.quarters(width: 88, height: 56)]).bytes
    #expect(try Self.run(large, pixels: 88 * 56 - 1).report.reason?.code == .tooLarge)
    // Without a byte of an image: the canvas is as large as it can be.
    #expect(try Self.run(Array("GIF89a".utf8) + [255, 255, 255, 255, 0, 0, 0]).report.reason?.code == .tooLarge)
    // The header of an image alone, of 65535x1321 pixels on a canvas of 32x32.
    let bomb = Array(file.prefix(13 + 12)) + [0x2C, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x29, 5, 0, 0x8F]
    #expect(try Self.run(bomb, pixels: 64_000_000).report.reason?.code == .tooLarge)
  }

  @Test("a hundred thousand images cost what the first one costs")
  func images() throws {
    var file = Self.file([Self.quarters()])
    file.images += Array(repeating: GIFFile.Image(width: 1, height: 1) { _, _ in 0 }, count: 2)
    let small = file.bytes
    let (one, all) = (Self.file([Self.quarters()]).bytes.count, small.count)
    // Each of both others has half of what they add, in front of the end of the file.
    let other = Array(small[(all - 1 - (all - one) / 2)..<(all - 1)])
    var many = Array(small.dropLast(1))
    for _ in 0..<100_000 { many += other }
    many.append(0x3B)
    let report = try Self.run(many).report
    #expect(report.reason == nil && report.facts?.isAnimated == true)
    #expect(report.decisions.contains { $0.choice == "the first image" })
  }
}
