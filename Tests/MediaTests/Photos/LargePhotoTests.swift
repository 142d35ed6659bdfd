import MediaFixtures
import Model
import Stills
import Testing

@testable import MediaProcess

/// Baseline JPEGs of more pixels than are decoded, and what else is above that limit.
@Suite("Large photos", .tags(.media))
struct LargePhotoTests {
  private static let size = Size(width: 220, height: 140)
  private static let quarters = PhotoFixture.quarters(width: 220, height: 140)
  private static let all = 220 * 140

  private static func limits(pixels: Int, header: Int? = all, progressive: Int = 1 << 24) -> PhotoLimits {
    PhotoLimits(
      bytes: 1 << 24, pixels: pixels, headerPixels: header, progressivePixels: progressive, formats: PhotoFormat.usual)
  }

  /// Eighths of an edge, rounded up.
  private static func part(_ eighths: Int, of edge: Int) -> Int { (edge * eighths + 7) / 8 }

  /// So many pixels as eighths of the edges have.
  private static func pixels(_ eighths: Int, width: Int = 220, height: Int = 140) -> Int {
    part(eighths, of: width) * part(eighths, of: height)
  }

  private static func detail(_ bytes: [UInt8], _ limits: PhotoLimits) throws -> String {
    let reason = try #require(try PhotoCase(bytes, limits: limits).report.reason)
    #expect(reason.code == .tooLarge)
    return reason.detail
  }

  @Test("a baseline JPEG is decoded at as many eighths as its limit allows, upright", arguments: 1...8, 1...8)
  func reduced(orientation: Int, eighths: Int) throws {
    let photo = try PhotoFixture.jpeg(Self.quarters, exif: PhotoFixture.exif(orientation: orientation))
    let run = try PhotoCase(
      photo,
      variants: [
        .photoLarge: PhotoVariant(longEdge: 1000, quality: 95), .photoSmall: PhotoVariant(longEdge: 24, quality: 95),
        .photoSquare: PhotoVariant(square: 16, quality: 95),
      ], limits: Self.limits(pixels: Self.pixels(eighths)))
    let isSwapped = orientation > 4
    let facts = try #require(run.report.facts)
    #expect(facts.coded == Self.size)
    #expect(facts.display == (isSwapped ? Size(width: 140, height: 220) : Self.size))
    #expect(run.report.decisions.contains { $0.subject == .scaling } == (eighths < 8))
    let (long, short) = (Self.part(eighths, of: 220), Self.part(eighths, of: 140))
    let sizes = Dictionary(
      uniqueKeysWithValues: run.report.outputs.map { ($0.role, Size(width: $0.width, height: $0.height)) })
    #expect(sizes[.photoLarge] == (isSwapped ? Size(width: short, height: long) : Size(width: long, height: short)))
    #expect(sizes[.photoSmall].map { max($0.width, $0.height) } == 24)
    #expect(sizes[.photoSquare] == Size(width: 16, height: 16))
    for role in [Role.photoLarge, .photoSmall] {
      let expected = try #require(PhotoTests.oriented[orientation])
      for (found, expected) in zip(try run.decodedImage(role).quarters, expected) {
        #expect(distance(found, expected) <= 12, "\(role): \(found) instead of \(expected)")
      }
    }
  }

  @Test("one pixel more than a limit is decoded at fewer eighths, and refused beyond the last", arguments: 1...8)
  func sides(eighths: Int) throws {
    let photo = try PhotoFixture.jpeg(Self.quarters)
    let below = Self.limits(pixels: Self.pixels(eighths) - 1)
    guard eighths > 1 else {
      #expect(try Self.detail(photo, below).contains("s header declares 220x140 pixels"))
      return
    }
    let output = try #require(try PhotoCase(photo, limits: below).report.outputs.first)
    #expect((output.width, output.height) == (Self.part(eighths - 1, of: 220), Self.part(eighths - 1, of: 140)))
  }

  @Test("each limit is met, and named with its number one pixel below")
  func limits() throws {
    let (baseline, progressive) = (
      try PhotoFixture.libjpeg(Self.quarters, quality: 80),
      try PhotoFixture.libjpeg(Self.quarters, quality: 80, isProgressive: true)
    )
    let header = "ts header declares"
    #expect(try PhotoCase(baseline, limits: Self.limits(pixels: 20_000)).report.reason == nil)
    #expect(
      try Self.detail(baseline, Self.limits(pixels: 20_000, header: Self.all - 1))
        .contains("\(header) 220x140 pixels; at most 30799 in total are accepted"))
    // Without the key, as before it existed.
    #expect(
      try Self.detail(baseline, Self.limits(pixels: 20_000, header: nil))
        .contains("\(header) 220x140 pixels; at most 20000 in total are accepted"))
    // The coefficients of a progressive one would stay in memory at any size.
    #expect(try PhotoCase(progressive, limits: Self.limits(pixels: Self.all, header: 1 << 20)).report.reason == nil)
    for limits in [Self.limits(pixels: 20_000), Self.limits(pixels: 30_000, progressive: 20_000)] {
      #expect(
        try Self.detail(progressive, limits).contains(
          "\(header) a progressive JPEG of 220x140 pixels; at most 20000 in total are accepted of such a one, and 30800 of "
            + "a baseline JPEG"))
    }
    for format in ["png", "webp", "heic", "avif"] {
      let photo = try PhotoFixture.photo(in: format, width: 220, height: 140)
      #expect(
        try Self.detail(photo, Self.limits(pixels: 20_000))
          .contains("\(header) 220x140 pixels; at most 20000 in total are accepted"), "\(format)")
    }
  }

  @Test("every sampling of colours is decoded at every number of eighths", arguments: [true, false], 1...8)
  func samplings(halvesChroma: Bool, eighths: Int) throws {
    let photo = try PhotoFixture.libjpeg(Self.quarters, quality: 95, halvesChroma: halvesChroma)
    let image = try PhotoCase(photo, limits: Self.limits(pixels: Self.pixels(eighths))).decodedImage()
    #expect((image.width, image.height) == (Self.part(eighths, of: 220), Self.part(eighths, of: 140)))
    for (found, expected) in zip(
      image.quarters, [PhotoTests.red, PhotoTests.green, PhotoTests.blue, PhotoTests.yellow])
    {
      #expect(distance(found, expected) <= 12, "\(found) instead of \(expected)")
    }
  }

  @Test(
    "grey, RGB and inks are what they are at full size", arguments: ColorSpaceTests.cases, [1, 3, 4, 7])
  func spaces(example: ColorSpaceTests.Case, eighths: Int) throws {
    let photo = try PhotoFixture.jpeg(samples: example.samples, ids: example.ids, segments: example.segments)
    let limits = Self.limits(pixels: Self.pixels(eighths, width: 64, height: 48), header: 64 * 48)
    let image = try PhotoCase(photo, limits: limits).decodedImage()
    #expect((image.width, image.height) == (8 * eighths, 6 * eighths))
    let found = image.pixel(image.width / 2, image.height / 2)
    #expect(distance(found, example.expected) <= 3, "\(found) instead of \(example.expected)")
  }

  @Test("a truncated one is refused", arguments: [2, 5, 10, 90])
  func truncated(percent: Int) throws {
    let photo = try PhotoFixture.libjpeg(Self.quarters, quality: 95)
    let part = Array(photo.prefix(photo.count * percent / 100))
    #expect(try PhotoCase(part, limits: Self.limits(pixels: 10_000)).report.reason != nil)
  }

  @Test("the report of a photo that is decoded at a reduced size passes unchanged", arguments: 1...8, [1, 6])
  func reply(eighths: Int, orientation: Int) throws {
    let photo = try PhotoFixture.jpeg(Self.quarters, exif: PhotoFixture.exif(orientation: orientation))
    let variants: [Role: PhotoVariant] = [
      .photoLarge: PhotoVariant(longEdge: 2048, quality: 80), .photoSquare: PhotoVariant(square: 150, quality: 80),
    ]
    let plan = PhotoPlan(limits: Self.limits(pixels: Self.pixels(eighths)), variants: variants)
    let run = try PhotoCase(photo, variants: variants, limits: plan.limits)
    let outputs = try Dictionary(uniqueKeysWithValues: variants.keys.map { ($0, RequestFile(try run.bytes($0))) })
    let check = PhotoCheck(plan: plan, bytes: Int64(photo.count), outputs: outputs)
    #expect(try check.checked(run.report) == run.report)
    // Of another format, so many pixels are impossible.
    guard eighths < 8 else { return }
    var report = run.report
    report.facts?.format = .png
    let failure = #expect(throws: MediaFailure.self) { try check.checked(report) }
    #expect(failure?.detail.contains("facts.display") == true)
  }

  @Test("208 megapixels are decoded, and one pixel fewer in the limit refuses them")
  func largest() throws {
    let (width, height) = (16_320, 12_744)
    let photo = PhotoFixture.greyJPEG(width: width, height: height)
    func run(header: Int) throws -> PhotoReport {
      try PhotoCase(
        photo, variants: [.photoLarge: PhotoVariant(longEdge: 2048, quality: 80)],
        limits: Self.limits(pixels: 64_000_000, header: header)
      ).report
    }
    let report = try run(header: width * height)
    #expect(report.reason == nil && report.facts?.display == Size(width: width, height: height))
    #expect(report.outputs.first.map { Size(width: $0.width, height: $0.height) } == Size(width: 2048, height: 1599))
    #expect(report.dominantColor == "#808080")
    #expect(try run(header: width * height - 1).reason?.code == .tooLarge)
  }
}
