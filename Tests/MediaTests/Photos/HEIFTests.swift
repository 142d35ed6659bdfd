import BoxTesting
import Definitions
import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("HEIF and AVIF", .tags(.media))
struct HEIFTests {
  /// How an image is coded.
  struct Coding: CustomTestStringConvertible {
    let isAVIF: Bool
    let bits: Int

    var testDescription: String { "\(isAVIF ? "AVIF" : "HEIC"), \(bits) bits" }

    // libheif 1.15 writes no AVIF of ten bits.
    static let all = [
      Coding(isAVIF: false, bits: 8), Coding(isAVIF: false, bits: 10), Coding(isAVIF: true, bits: 8),
    ]

    func file(_ image: RGBImage) throws -> HEIFFile {
      try #require(HEIFFile(extractingFrom: PhotoFixture.heic(image, isAVIF: isAVIF, bits: bits)))
    }
  }

  /// The quarters of an image, row by row, as a property turns them (ISO/IEC 23008-12:2022, 6.5.10 and 6.5.12): `irot` anticlockwise by
  /// as many quarter turns; `imir` exchanges top and bottom for 0, like Exif's orientation 4, and left and right for 1, like 2.
  private static func turned(_ quarters: [SIMD3<Int>], by property: String, _ value: Int) -> [SIMD3<Int>] {
    let order =
      property == "irot"
      ? [[0, 1, 2, 3], [1, 3, 0, 2], [3, 2, 1, 0], [2, 0, 3, 1]][value] : [[2, 3, 0, 1], [1, 0, 3, 2]][value]
    return order.map { quarters[$0] }
  }

  @Test(
    "an image is turned and mirrored as the standard says, in the order of the properties, wherever its size stands",
    arguments: Coding.all)
  func turned(coding: Coding) throws {
    let file = try coding.file(PhotoFixture.quarters(width: 128, height: 64))
    let mirrors = [0, 1].map { ("imir", $0) }
    let rotations = (0...3).map { ("irot", $0) }
    let turns =
      mirrors.map { [$0] } + rotations.map { [$0] }
      + mirrors.flatMap { mirror in rotations.flatMap { [[mirror, $0], [$0, mirror]] } }
    for (turn, isInFront) in turns.flatMap({ turn in [(turn, false), (turn, true)] }) {
      var turned = file
      turned.items[0].properties.insert(
        contentsOf: turn.map { box($0.0, [UInt8($0.1)]) }, at: isInFront ? 0 : file.items[0].properties.count)
      let run = try PhotoCase(turned.bytes)
      let isUpright = turn.allSatisfy { $0.0 == "imir" || $0.1 % 2 == 0 }
      #expect(run.report.facts?.display == (isUpright ? Size(width: 128, height: 64) : Size(width: 64, height: 128)))
      let original = [PhotoTests.red, PhotoTests.green, PhotoTests.blue, PhotoTests.yellow]
      let expected = turn.reduce(original) { Self.turned($0, by: $1.0, $1.1) }
      for (found, color) in zip(try run.decodedImage().quarters, expected) {
        #expect(distance(found, color) <= 8, "\(turn), in front: \(isInFront): \(found) instead of \(color)")
      }
    }
  }

  @Test("an identity of an image, which has no data, shows the image, and is turned on its own", arguments: Coding.all)
  func identity(coding: Coding) throws {
    var file = try coding.file(PhotoFixture.quarters(width: 128, height: 64))
    var identity = HEIFFile.Item("iden", properties: [extents(128, 64), box("irot", [1])])
    identity.isLocated = false
    file.primary = file.add(identity, ("dimg", [1]))
    let run = try PhotoCase(file.bytes)
    #expect(run.report.reason == nil)
    #expect(run.report.facts?.display == Size(width: 64, height: 128))
    let expected = [PhotoTests.green, PhotoTests.yellow, PhotoTests.red, PhotoTests.blue]
    for (found, color) in zip(try run.decodedImage().quarters, expected) {
      #expect(distance(found, color) <= 8, "\(found) instead of \(color)")
    }
  }

  /// Signals of HLG in BT.2020, and the colours of SDR that show the same light, all below the knee of the tone curve.
  ///
  /// Computed independently: signals to scene light (ITU-R BT.2100-2, table 5), by the system gamma of 1.2 to light on a display of
  /// 1000 cd/m², divided by 203 (BT.2408-7, 2.1), by the chromaticities of both systems to BT.709, clipped to 0 and 1 (BT.2407-0, clause 2),
  /// to the signal of sRGB (IEC 61966-2-1).
  static let hybridLogGamma: [(signal: (UInt8, UInt8, UInt8), expected: SIMD3<Int>)] = [
    ((64, 64, 64), SIMD3(62, 62, 62)), ((97, 97, 97), SIMD3(101, 101, 101)), ((128, 128, 128), SIMD3(137, 137, 137)),
    ((150, 150, 150), SIMD3(168, 168, 168)), ((150, 90, 80), SIMD3(186, 84, 83)), ((80, 140, 90), SIMD3(0, 156, 92)),
    ((70, 80, 150), SIMD3(52, 82, 156)), ((140, 130, 60), SIMD3(161, 139, 49)), ((120, 60, 120), SIMD3(142, 47, 124)),
  ]

  @Test(
    "a photo in HLG has the colours of the standards' formulas, and the decision says what was done",
    arguments: Coding.all)
  func hybridLogGamma(coding: Coding) throws {
    var file = try coding.file(
      PhotoFixture.image(width: 192, height: 192) { x, y in Self.hybridLogGamma[y / 64 * 3 + x / 64].signal })
    // BT.2020 and HLG, with the matrix and the range of the encoder (ITU-T H.273).
    file.items[0].properties.removeAll { $0[4..<8].elementsEqual("colr".utf8) }
    file.items[0].properties.append(box("colr", Array("nclx".utf8), [0, 9, 0, 18, 0, 6, 0x80]))
    let run = try PhotoCase(file.bytes)
    #expect(run.report.facts?.bits == coding.bits && run.report.facts?.dynamicRange == .hybridLogGamma)
    let decision = try #require(run.report.decisions.first { $0.subject == .color })
    #expect(decision.choice == "tone-mapped, reference white at the white of SDR" && decision.reason == "it is HLG")
    let image = try run.decodedImage()
    for (index, color) in Self.hybridLogGamma.enumerated() {
      let found = image.pixel(index % 3 * 64 + 32, index / 3 * 64 + 32)
      #expect(distance(found, color.expected) <= 5, "\(color.signal) became \(found), not \(color.expected)")
    }
  }

  /// A HEIC or AVIF with one image.
  static func file(_ format: String, width: Int = 96, height: Int = 64) throws -> HEIFFile {
    try #require(HEIFFile(extractingFrom: PhotoFixture.photo(in: format, width: width, height: height)))
  }

  /// Adds a gain map of another size and a tone-mapped image that is derived from it.
  static func addGainMap(to file: inout HEIFFile, width: Int, height: Int) throws -> Int {
    let map = try Self.file(file.items[0].type == "av01" ? "avif" : "heic", width: width, height: height).items[0]
    let gainMap = file.add(map)
    file.brands.append("tmap")
    let toneMap = HEIFFile.Item("tmap", properties: [extents(0, 0)], data: [UInt8](repeating: 0, count: 62))
    return file.add(toneMap, ("dimg", [file.primary, gainMap]))
  }

  @Test("a phone photo with gain map, mattes and a URI item gives all variants")
  func phone() throws {
    let plain = try Self.file("heic")
    var file = plain
    let toneMap = try Self.addGainMap(to: &file, width: 64, height: 64)
    for name in [
      "urn:com:apple:photo:2020:aux:hdrgainmap", "urn:com:apple:photo:2018:aux:portraiteffectsmatte",
      "urn:com:apple:photo:2019:aux:semanticskinmatte", "urn:com:apple:photo:2019:aux:semantichairmatte",
      "urn:com:apple:photo:2020:aux:semanticskymatte", "urn:mpeg:hevc:2015:auxid:2",
    ] {
      var auxiliary = file.items[1]
      auxiliary.properties.append(auxiliaryType(name))
      let id = file.add(auxiliary, ("auxl", [1]))
      _ = file.add(.init("mime", data: Array("<x:xmpmeta/>".utf8)), ("cdsc", [id]))
    }
    _ = file.add(.init("uri ", data: Array("tag:apple.com,2023:photo:aux".utf8)), ("cdsc", [toneMap]))
    let exif = [0, 0, 0, 6] + Array("Exif\0\0".utf8) + PhotoFixture.exif(orientation: 1, hasPosition: true)
    _ = file.add(.init("Exif", data: exif), ("cdsc", [1, toneMap]))
    let definition = try #require(try Definitions.photo("photo-post"))
    let run = try PhotoCase(file.bytes, variants: definition.plan.variants)
    #expect(run.report.reason == nil)
    #expect(
      Set(run.report.outputs.map(\.role)) == [.photoLarge, .photoMedium, .photoSmall, .photoSquare])
    #expect(run.report.facts?.identifying.map(\.kind) == [.device, .place])
    #expect(run.report.facts?.hasAlpha == false && run.report.facts?.display == Size(width: 96, height: 64))
    let reference = try PhotoCase(plain.bytes, variants: definition.plan.variants)
    #expect(try run.bytes(.photoLarge) == reference.bytes(.photoLarge))
  }

  @Test(
    "a HEIC whose container states no orientation is turned by Exif; another one, and an AVIF, is not",
    arguments: [("heic", nil, true), ("heic", 0, false), ("heic", 2, false), ("avif", nil, false)]
      as [(String, UInt8?, Bool)], [3, 6, 8])
  func exifOrientation(image: (format: String, rotation: UInt8?, isTurned: Bool), orientation: Int) throws {
    var file = try Self.file(image.format)
    if let rotation = image.rotation { file.items[0].properties.append(box("irot", [rotation])) }
    let exif = [0, 0, 0, 6] + Array("Exif\0\0".utf8) + PhotoFixture.exif(orientation: orientation)
    _ = file.add(.init("Exif", data: exif), ("cdsc", [file.primary]))
    let facts = try #require(try PhotoCase(file.bytes).report.facts)
    let turns = [3: 180, 6: 90, 8: 270][orientation] ?? 0
    let expected = image.isTurned ? turns : Int(image.rotation ?? 0) * 90
    #expect(facts.transform.rotation.rawValue == expected)
    #expect(facts.display == (expected % 180 == 90 ? Size(width: 64, height: 96) : Size(width: 96, height: 64)))
  }

  @Test("a sequence with a primary image gives that image")
  func sequence() throws {
    var file = try Self.file("heic")
    file.brands = ["hevc", "msf1", "hevc"]
    file.rest = movie("pict")
    let report = try PhotoCase(file.bytes).report
    #expect(report.reason == nil && report.facts?.display == Size(width: 96, height: 64))
    #expect(report.facts?.isAnimated == true)
  }

  @Test("a gain map of any size does not change the output", arguments: ["heic", "avif"], [1, 17, 300])
  func gainMap(format: String, size: Int) throws {
    let plain = try Self.file(format, width: 12, height: 34)
    var file = plain
    _ = try Self.addGainMap(to: &file, width: size, height: 2 * size)
    let run = try PhotoCase(file.bytes)
    let reference = try PhotoCase(plain.bytes)
    #expect(run.report.reason == nil && run.report.facts?.display == reference.report.facts?.display)
    #expect(try run.bytes(.photoLarge) == reference.bytes(.photoLarge))
  }

  @Test(
    "small and odd sizes are accepted", arguments: ["heic", "avif"], [(12, 34), (1, 1), (29, 100), (3, 2), (1, 40)])
  func odd(format: String, size: (Int, Int)) throws {
    let report = try PhotoCase(PhotoFixture.photo(in: format, width: size.0, height: size.1)).report
    #expect(report.reason == nil)
    #expect(report.facts?.display == Size(width: size.0, height: size.1))
    #expect(report.outputs.first?.width == size.0)
  }

  @Test("transparency is blended with white")
  func alpha() throws {
    var file = try #require(
      HEIFFile(extractingFrom: PhotoFixture.heic(PhotoFixture.image(width: 64, height: 64) { _, _ in (0, 0, 0) })))
    let mask = PhotoFixture.image(width: 64, height: 64) { x, _ in x < 32 ? (0, 0, 0) : (255, 255, 255) }
    var item = try #require(HEIFFile(extractingFrom: PhotoFixture.heic(mask))).items[0]
    item.properties.append(auxiliaryType("urn:mpeg:hevc:2015:auxid:1"))
    _ = file.add(item, ("auxl", [1]))
    let run = try PhotoCase(file.bytes)
    #expect(run.report.facts?.hasAlpha == true)
    let output = try run.decodedImage()
    #expect(distance(output.pixel(8, 32), SIMD3(255, 255, 255)) <= 8, "\(output.pixel(8, 32))")
    #expect(distance(output.pixel(56, 32), SIMD3(0, 0, 0)) <= 8, "\(output.pixel(56, 32))")
  }

  /// Colours under alphas from transparent to opaque.
  private static let colors = [SIMD3(255, 255, 255), SIMD3(200, 60, 40), SIMD3(30, 120, 200), SIMD3(0, 0, 0)]
  private static let alphas = [0, 32, 64, 100, 140, 180, 229, 255]

  /// An image of the colours by rows and the alphas by columns, and its alpha channel.
  private static func transparent(
    _ coding: Coding, isPremultiplied: Bool
  ) throws -> (file: HEIFFile, mask: HEIFFile.Item) {
    let image = PhotoFixture.image(width: 256, height: 128) { x, y in
      let alpha = isPremultiplied ? alphas[x / 32] : 255
      let color = (colors[y / 32] &* alpha &+ 127) / 255
      return (UInt8(color.x), UInt8(color.y), UInt8(color.z))
    }
    let levels = PhotoFixture.image(width: 256, height: 128) { x, _ in
      let alpha = UInt8(alphas[x / 32])
      return (alpha, alpha, alpha)
    }
    var mask = try coding.file(levels).items[0]
    mask.properties.append(auxiliaryType("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"))
    return (try coding.file(image), mask)
  }

  @Test(
    "an image is blended with white once, whether its colours are multiplied by alpha already or not",
    arguments: Coding.all, [false, true])
  func premultiplied(coding: Coding, isPremultiplied: Bool) throws {
    var (file, mask) = try Self.transparent(coding, isPremultiplied: isPremultiplied)
    let alpha = file.add(mask, ("auxl", [1]))
    if isPremultiplied { file.references.append(("prem", 1, [alpha])) }
    let output = try PhotoCase(file.bytes).decodedImage()
    for (row, color) in Self.colors.enumerated() {
      for (column, alpha) in Self.alphas.enumerated() {
        let expected = (color &* alpha &+ 255 * (255 - alpha)) / 255
        let found = output.pixel(32 * column + 16, 32 * row + 16)
        #expect(distance(found, expected) <= 8, "\(color) under \(alpha): \(found) instead of \(expected)")
      }
    }
  }

  @Test("so is a grid whose tiles have premultiplied alpha channels of their own", arguments: [false, true])
  func premultipliedTiles(isAVIF: Bool) throws {
    var (file, mask) = try Self.transparent(Coding(isAVIF: isAVIF, bits: 8), isPremultiplied: true)
    let alpha = file.add(mask, ("auxl", [1]))
    file.references.append(("prem", 1, [alpha]))
    file.primary = file.add(
      .init("grid", properties: [extents(512, 128)], data: grid(rows: 1, columns: 2, width: 512, height: 128)),
      ("dimg", [1, 1]))
    let output = try PhotoCase(file.bytes).decodedImage()
    // White stays white under any alpha.
    for x in stride(from: 16, to: 512, by: 32) {
      #expect(distance(output.pixel(x, 16), SIMD3(255, 255, 255)) <= 8, "\(output.pixel(x, 16)) at \(x)")
    }
  }

  /// A grid of two black tiles, and their alpha channels: the left half of the first and the upper half of the second are
  /// transparent.
  private static func tiles(isAVIF: Bool) throws -> (file: HEIFFile, masks: [HEIFFile.Item]) {
    func coded(_ pixel: (Int, Int) -> UInt8) throws -> HEIFFile {
      let image = PhotoFixture.image(width: 64, height: 64) { x, y in (pixel(x, y), pixel(x, y), pixel(x, y)) }
      return try #require(HEIFFile(extractingFrom: PhotoFixture.heic(image, isAVIF: isAVIF)))
    }
    var file = try coded { _, _ in 0 }
    _ = file.add(file.items[0])
    file.primary = file.add(
      .init("grid", properties: [extents(128, 64)], data: grid(rows: 1, columns: 2, width: 128, height: 64)),
      ("dimg", [1, 2]))
    let masks = try [coded { x, _ in x < 32 ? 0 : 255 }, coded { _, y in y < 32 ? 0 : 255 }].map { mask in
      var item = mask.items[0]
      item.properties.append(auxiliaryType("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"))
      return item
    }
    return (file, masks)
  }

  @Test(
    "transparency that each tile of a grid has is blended with white, as the grid's is", arguments: [false, true])
  func alphaOfTiles(isAVIF: Bool) throws {
    let (grid, masks) = try Self.tiles(isAVIF: isAVIF)
    var file = grid
    for (index, mask) in masks.enumerated() { _ = file.add(mask, ("auxl", [index + 1])) }
    let run = try PhotoCase(file.bytes)
    #expect(run.report.facts?.hasAlpha == true)
    let output = try run.decodedImage()
    for (x, y, level) in [(8, 32, 255), (56, 32, 0), (96, 16, 255), (96, 48, 0)] {
      #expect(distance(output.pixel(x, y), SIMD3(repeating: level)) <= 8, "\(output.pixel(x, y)) at \(x), \(y)")
    }
    // An encoder that gives the alpha channel a grid of its own, as avifenc does, shows the same.
    var other = grid
    let parts = masks.map { other.add($0) }
    var whole = grid.items[2]
    whole.properties.append(auxiliaryType("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"))
    _ = other.add(whole, ("dimg", parts), ("auxl", [other.primary]))
    #expect(try PhotoCase(other.bytes).bytes(.photoLarge) == run.bytes(.photoLarge))
  }

  @Test("transparency that only some tiles of a grid have is ignored, as libavif does")
  func alphaOfSomeTiles() throws {
    var (file, masks) = try Self.tiles(isAVIF: true)
    _ = file.add(masks[0], ("auxl", [1]))
    #expect(try PhotoCase(file.bytes).report.facts?.hasAlpha == false)
  }

  @Test("a grid that refers to one tile twice shows it twice")
  func tiles() throws {
    var file = try #require(HEIFFile(extractingFrom: PhotoFixture.heic(PhotoFixture.quarters(width: 64, height: 64))))
    file.primary = file.add(
      .init("grid", properties: [extents(128, 64)], data: grid(rows: 1, columns: 2, width: 128, height: 64)),
      ("dimg", [1, 1]))
    let run = try PhotoCase(file.bytes)
    #expect(run.report.facts?.display == Size(width: 128, height: 64))
    let output = try run.decodedImage()
    for x in [16, 80] { #expect(distance(output.pixel(x, 16), PhotoTests.red) <= 8) }
    for x in [48, 112] { #expect(distance(output.pixel(x, 48), PhotoTests.yellow) <= 8) }
  }

  @Test("the refusal of an unsupported item type names it")
  func unsupported() throws {
    var file = try Self.file("heic")
    file.items[0].type = "unci"
    let reason = try PhotoCase(file.bytes).report.reason
    #expect(reason?.code == .unsupportedCodec)
    #expect(reason?.detail.contains("'unci'") == true)
  }

  @Test("a file that libheif refuses despite valid boxes is a corrupt image, not out of memory")
  func inconsistent() throws {
    // An HEVC image that is declared as AV1.
    var file = try Self.file("heic")
    file.items[0].type = "av01"
    file.items[0].properties.append(try #require(Self.file("avif").items[0].properties.first))
    #expect(try PhotoCase(file.bytes).report.reason?.code == .corruptImage)
  }
}
