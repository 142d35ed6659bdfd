import Media
import MediaFixtures
import Model
import Testing

@Suite("Previews of animated photos", .tags(.media))
struct PhotoPreviewTests {
  private static let colors = [PhotoTests.red, PhotoTests.green, PhotoTests.blue, PhotoTests.yellow]

  static func file(_ images: [GIFFile.Image], _ change: (inout GIFFile) -> Void = { _ in }) -> GIFFile {
    var file = GIFFile(
      width: 44, height: 28, colors: colors.flatMap { [UInt8($0.x), UInt8($0.y), UInt8($0.z)] }, images: images)
    change(&file)
    return file
  }

  /// An image on the whole canvas, in a colour by its place in the table, for a fifth of a second.
  static func all(_ color: UInt8, _ change: (inout GIFFile.Image) -> Void = { _ in }) -> GIFFile.Image {
    var image = GIFFile.Image(width: 44, height: 28) { _, _ in color }
    image.delay = 20
    change(&image)
    return image
  }

  /// An image on a quarter of the canvas: the upper left one is 0, the lower right one 3.
  private static func quarter(_ place: Int, _ color: UInt8, disposal: UInt8 = 1) -> GIFFile.Image {
    var image = GIFFile.Image(width: 22, height: 14) { _, _ in color }
    (image.left, image.top, image.delay, image.disposal) = (place % 2 * 22, place / 2 * 14, 20, disposal)
    return image
  }

  static func run(
    _ bytes: [UInt8], edge: Int = 480, pixels: Int = 1 << 24, isWanted: Bool = true
  ) throws -> PhotoCase {
    let limits = PhotoLimits(
      bytes: 1 << 24, pixels: pixels, progressivePixels: pixels, formats: PhotoFormat.allCases)
    return try PhotoCase(
      bytes, variants: [.photoLarge: PhotoVariant(longEdge: 64, quality: 80)],
      preview: isWanted ? PhotoPreview(longEdge: edge, quality: 95) : nil, limits: limits)
  }

  /// The preview as libwebp shows it; nil if there is none, which facts, outputs and file then agree upon.
  static func preview(of run: PhotoCase) throws -> WebPAnimation? {
    #expect(run.report.reason == nil)
    let bytes = try run.bytes(.photoPreview)
    let output = run.report.outputs.first { $0.role == .photoPreview }
    guard let images = run.report.facts?.previewImages, let output else {
      #expect(output == nil && run.report.facts?.previewImages == nil && bytes.isEmpty)
      return nil
    }
    let animation = try #require(WebPAnimation(bytes))
    #expect(2...100 ~= images && animation.ends.count <= images && animation.loops == 0)
    #expect((output.width, output.height) == (animation.width, animation.height))
    #expect(output.type == "image/webp" && output.bytes == Int64(bytes.count))
    #expect(output.duration == Double(animation.ends.last ?? 0) / 1000)
    return animation
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    /// The colours of the quarters of each image, by their places in the table; nil is transparent.
    let quarters: [[Int?]]

    init(_ name: String, _ images: [GIFFile.Image], _ quarters: [Int?]..., change: (inout GIFFile) -> Void = { _ in }) {
      (testDescription, bytes, self.quarters) = (name, file(images, change).bytes, quarters)
    }
  }

  private static let kept: [Case] = [UInt8(0), 1, 5, 6, 7].map { disposal in
    Case(
      "what an image of the disposal method \(disposal) drew stays",
      [quarter(0, 0, disposal: disposal), quarter(3, 2, disposal: disposal)], [0, nil, nil, nil], [0, nil, nil, 2])
  }

  private static let restored: [Case] = [UInt8(3), 4].flatMap { disposal in
    [
      Case(
        "by the method \(disposal) the canvas is what it was",
        [all(0), quarter(0, 2, disposal: disposal), quarter(3, 1, disposal: disposal), quarter(1, 3)],
        [0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 3, 0, 0]),
      Case(
        "by the method \(disposal) it is transparent behind the first image",
        [quarter(0, 0, disposal: disposal), quarter(3, 2)], [0, nil, nil, nil], [nil, nil, nil, 2]),
    ]
  }

  private static let others: [Case] = [
    Case(
      "by the method 2 the area becomes transparent",
      [quarter(0, 0, disposal: 2), quarter(3, 2, disposal: 2), quarter(1, 1)],
      [0, nil, nil, nil], [nil, nil, nil, 2], [nil, 1, nil, nil]),
    Case(
      "by the method 2 so does what lay under the image, and not the colour of the canvas",
      [all(0), quarter(0, 2, disposal: 2), quarter(3, 1)], [0, 0, 0, 0], [2, 0, 0, 0], [nil, 0, 0, 1],
      change: { $0.background = 3 }),
    Case(
      "a transparent colour shows what is there",
      [
        all(0), GIFFile.Image(width: 44, height: 28, delay: 20, transparent: 1) { x, _ in x < 22 ? 1 : 2 },
        quarter(0, 3),
      ],
      [0, 0, 0, 0], [0, 2, 0, 2], [3, 2, 0, 2]),
    Case(
      "of an image with a transparent colour all is restored",
      [
        all(0),
        GIFFile.Image(width: 44, height: 28, delay: 20, transparent: 1, disposal: 3) { x, _ in x < 22 ? 1 : 2 },
        quarter(3, 3),
      ],
      [0, 0, 0, 0], [0, 2, 0, 2], [0, 0, 0, 3]),
    Case(
      "an image has its own table, and the next one uses the table of the file",
      [
        all(0),
        {
          var image = quarter(1, 0)
          image.colors = [UInt8(PhotoTests.blue.x), UInt8(PhotoTests.blue.y), UInt8(PhotoTests.blue.z), 0, 0, 0]
          return image
        }(), quarter(2, 1),
      ], [0, 0, 0, 0], [0, 2, 0, 0], [0, 2, 1, 0]),
    Case(
      "interlaced images",
      [
        all(3) { $0.isInterlaced = true },
        GIFFile.Image(width: 44, height: 28, delay: 20, isInterlaced: true) { x, y in
          (x < 22 ? 0 : 1) + (y < 14 ? 0 : 2)
        },
      ], [3, 3, 3, 3], [0, 1, 2, 3]),
    Case(
      "an image beyond the edges of the canvas",
      [
        all(0),
        {
          var image = all(2)
          (image.left, image.top, image.disposal) = (22, 14, 3)
          return image
        }(), quarter(0, 1),
      ], [0, 0, 0, 0], [0, 0, 0, 2], [1, 0, 0, 0]),
    Case(
      "an image outside of the canvas, which draws and clears nothing",
      [
        all(0),
        {
          var image = all(2)
          (image.left, image.top, image.disposal) = (44, 3, 2)
          return image
        }(), quarter(0, 1),
      ], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]),
    Case(
      "comments and a number of repetitions between the images", [all(0), all(1)], [0, 0, 0, 0], [1, 1, 1, 1],
      change: { $0.extensions = GIFFile.text(0xFF, "NETSCAPE2.0") + GIFFile.text(0xFE, "by Ada") }),
  ]

  static let cases = kept + restored + others

  @Test("each image is shown on what those before it leave, transparent where nothing is", arguments: cases)
  func shown(example: Case) throws {
    let preview = try #require(try Self.preview(of: Self.run(example.bytes)))
    #expect(preview.ends.last == 200 * example.quarters.count)
    for (index, quarters) in example.quarters.enumerated() {
      for (place, color) in quarters.enumerated() {
        let found = preview.pixel(11 + place % 2 * 22, 7 + place / 2 * 14, at: 200 * index + 100)
        let expected = color.map { Self.colors[$0] }
        #expect(found.w == (expected == nil ? 0 : 255), "image \(index), quarter \(place): \(found)")
        if let expected {
          #expect(
            distance(SIMD3(found.x, found.y, found.z), expected) <= 12, "image \(index), quarter \(place): \(found)")
        }
      }
    }
  }

  @Test(
    "an image is shown as long as browsers show it, and all together for two seconds",
    arguments: [
      ([0, 0], [100, 200]), ([1, 2], [100, 120]), ([10, 10, 1], [100, 200, 300]), ([10, 65_535], [100, 2000]),
      ([150, 40, 40, 40], [1500, 1900, 2000]), ([100, 100, 100], [1000, 2000]), ([199, 1], [1990, 2000]),
      (Array(repeating: 10, count: 30), (1...20).map { $0 * 100 }),
      (Array(repeating: 2, count: 10_000), (1...100).map { $0 * 20 }),
      // Two seconds of these show one image.
      ([200, 10], []), ([65_535, 10], []), ([10], []), ([0], []),
    ] as [([Int], [Int])])
  func delays(delays: [Int], ends: [Int]) throws {
    let images = delays.enumerated().map { index, delay in
      GIFFile.Image(width: 8, height: 8, delay: delay) { _, _ in UInt8(index % 4) }
    }
    let run = try Self.run(Self.file(images).bytes)
    #expect(try Self.preview(of: run)?.ends ?? [] == ends)
    #expect(run.report.facts?.previewImages == (ends.isEmpty ? nil : ends.count))
    #expect(run.report.facts?.isAnimated == (delays.count > 1))
    #expect(run.report.decisions.contains { $0.choice == "no preview" } == (ends.isEmpty && delays.count > 1))
  }

  @Test("images that do not differ are a preview")
  func still() throws {
    let run = try Self.run(Self.file([Self.all(1), Self.all(1)]).bytes)
    #expect(run.report.facts?.previewImages == 2)
    #expect(run.report.outputs.last?.duration == 0.4 && run.report.outputs.last?.role == .photoPreview)
    #expect(try run.bytes(.photoPreview).starts(with: "RIFF".utf8))
  }

  @Test("a file that is cut has a preview of the images that are whole")
  func cut() throws {
    let images = [Self.all(0), Self.quarter(1, 1), Self.quarter(2, 2)]
    // Behind the last image is a byte.
    let lengths = (1...3).map { Self.file(Array(images.prefix($0))).bytes.count - 1 }
    let whole = Self.file(images).bytes
    for count in lengths[0]...whole.count {
      let run = try Self.run(Array(whole.prefix(count)))
      let expected = lengths.count { $0 <= count }
      #expect(run.report.facts?.previewImages == (expected > 1 ? expected : nil), "\(count) bytes")
      #expect(try Self.preview(of: run)?.ends.last == (expected > 1 ? 200 * expected : nil), "\(count) bytes")
    }
  }

  @Test("an image that is damaged, empty or too large ends the preview, and the photo is accepted", arguments: 0..<5)
  func damage(kind: Int) throws {
    var bad = GIFFile.Image(width: 44, height: 28) { _, _ in 1 }
    if kind == 0 { bad.height = 27 }
    if kind == 1 { (bad.width, bad.height, bad.pixels) = (88, 56, Array(repeating: 1, count: 88 * 56)) }
    let good = [Self.all(0), Self.quarter(3, 2)]
    let start = Self.file(good).bytes.count - 1
    var bytes = Self.file(good + [bad, Self.all(3)]).bytes
    switch kind {
    // Codes of fewer pixels than its header states.
    case 0: bytes[start + 7] = 28
    // An edge without pixels, the bits of codes, and a code that nothing defines.
    case 2: bytes[start + 5] = 0
    case 3: bytes[start + 10] = 13
    case 4: bytes[start + 12] = 0xFF
    default: break
    }
    let run = try Self.run(bytes, pixels: 44 * 28)
    #expect(run.report.facts?.previewImages == 2)
    #expect(try Self.preview(of: run)?.ends.last == 400)
  }

  @Test("it is reduced to its long edge and never enlarged")
  func size() throws {
    let bytes = Self.file([Self.all(0), Self.quarter(3, 2)]).bytes
    for (edge, width, height) in [(480, 44, 28), (44, 44, 28), (22, 22, 14), (20, 20, 13), (16, 16, 10)] {
      let preview = try #require(try Self.preview(of: Self.run(bytes, edge: edge)))
      #expect((preview.width, preview.height) == (width, height))
      let found = preview.pixel(width - 2, height - 2, at: 300)
      #expect(distance(SIMD3(found.x, found.y, found.z), PhotoTests.blue) <= 12 && found.w == 255, "\(edge): \(found)")
    }
  }

  @Test("of a large canvas so many images are shown as their pixels allow, and of a larger one none")
  func pixels() throws {
    let images = Array(repeating: GIFFile.Image(width: 1, height: 1, delay: 2) { _, _ in 1 }, count: 20)
    let large = Self.file(images) { ($0.width, $0.height) = (4096, 4096) }.bytes
    #expect(try Self.run(large, edge: 16).report.facts?.previewImages == 15)
    let run = try Self.run(Self.file(images) { ($0.width, $0.height) = (4097, 4096) }.bytes, pixels: 1 << 25)
    #expect(try Self.preview(of: run) == nil && run.report.facts?.isAnimated == true)
    #expect(run.report.decisions.contains { $0.choice == "no preview" })
  }

  @Test(
    "photos of other formats have none, and none is made without the key", arguments: PhotoFixture.formats + ["gif"])
  func without(format: String) throws {
    let photo = try PhotoFixture.photo(in: format)
    #expect(try Self.preview(of: Self.run(photo)) == nil)
    let animation = Self.file([Self.all(0), Self.all(1)]).bytes
    #expect(try Self.preview(of: Self.run(animation, isWanted: false)) == nil)
  }

  @Test("the same photo gives the same bytes")
  func reproducible() throws {
    let bytes = Self.file([Self.all(0), Self.quarter(3, 2), Self.quarter(1, 1)]).bytes
    #expect(try Self.run(bytes).bytes(.photoPreview) == Self.run(bytes).bytes(.photoPreview))
  }
}

extension GIFFile.Image {
  fileprivate init(
    width: Int, height: Int, delay: Int, transparent: UInt8? = nil, disposal: UInt8 = 0, isInterlaced: Bool = false,
    _ pixel: (_ x: Int, _ y: Int) -> UInt8
  ) {
    self.init(width: width, height: height, pixel)
    (self.delay, self.transparent, self.disposal, self.isInterlaced) = (delay, transparent, disposal, isInterlaced)
  }
}
