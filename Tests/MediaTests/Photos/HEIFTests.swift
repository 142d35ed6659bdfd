import BoxTesting
import Definitions
import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("HEIF and AVIF", .tags(.media))
struct HEIFTests {
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
