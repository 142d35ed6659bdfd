import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("HEIF images")
struct HEIFImageTests {
  static let coded = HEIFFile.Item("hvc1", properties: [box("hvcC", [1, 2, 3]), extents(64, 64)], data: Array(0..<99))

  static func refusal(_ file: HEIFFile, pixels: Int = 1 << 20) -> HEIFRefusal? { refusal(file.bytes, pixels: pixels) }

  static func refusal(_ bytes: [UInt8], pixels: Int = 1 << 20) -> HEIFRefusal? {
    do throws(HEIFRefusal) {
      _ = try HEIFImage(bytes, pixels: pixels)
      return nil
    } catch {
      return error
    }
  }

  /// A file with an image that is derived from other items.
  static func derived(_ type: String, from parts: [Int], data: [UInt8] = []) -> HEIFFile {
    var file = HEIFFile([coded])
    file.primary = file.add(.init(type, properties: [extents(64, 64)], data: data), ("dimg", parts))
    return file
  }

  @Test("the rewritten file has the primary item and its parts only")
  func rewriting() throws {
    var file = Self.derived("grid", from: [1, 1], data: grid(rows: 1, columns: 2, width: 128, height: 64))
    let alpha = file.add(
      .init("hvc1", properties: Self.coded.properties + [auxiliaryType("urn:mpeg:hevc:2015:auxid:1")], data: [7, 7]),
      ("auxl", [2]))
    let depth = file.add(
      .init("hvc1", properties: Self.coded.properties + [auxiliaryType("urn:mpeg:hevc:2015:auxid:2")], data: [8, 8]),
      ("auxl", [2]))
    _ = file.add(.init("mime", data: Array("application/rdf+xml".utf8)), ("cdsc", [depth]))
    _ = file.add(.init("tmap", data: [1, 2, 3]), ("dimg", [2, depth]))
    _ = file.add(.init("Exif", data: [0, 0, 0, 2, 5, 5] + Array("MM\0*".utf8)), ("cdsc", [2, 6]))
    file.rest = box("mpvd", [UInt8](repeating: 1, count: 5000))
    let image = try HEIFImage(file.bytes, pixels: 1 << 20)
    #expect(HEIFItems(image.bytes)?.types == ["grid", "hvc1", "hvc1"])
    #expect(image.exif.elementsEqual("MM\0*".utf8))
    #expect(image.bytes.count < 1000)
    // Rewriting a rewritten file changes nothing.
    #expect(try HEIFImage(image.bytes, pixels: 1 << 20).bytes == image.bytes)
    #expect(alpha == 3)
  }

  @Test("a file that is truncated at any byte is rejected as truncated")
  func cut() {
    let complete = HEIFFile([Self.coded]).bytes
    #expect(Self.refusal(complete) == nil)
    for count in 0..<complete.count {
      guard case .truncated = Self.refusal(Array(complete.prefix(count))) else {
        Issue.record("\(count): \(String(describing: Self.refusal(Array(complete.prefix(count)))))")
        return
      }
    }
  }

  @Test("an unsupported item type is named", arguments: ["unci", "jpeg", "vvc1", "tmap", "avc1"])
  func named(type: String) {
    var file = HEIFFile([Self.coded])
    file.items[0].type = type
    guard case .unsupported(let finding) = Self.refusal(file) else {
      Issue.record("accepted")
      return
    }
    #expect(finding.contains("'\(type)'"))
    var nested = Self.derived("iden", from: [3])
    _ = nested.add(.init(type, properties: [extents(64, 64)]))
    guard case .unsupported(let inner) = Self.refusal(nested) else {
      Issue.record("accepted as a part")
      return
    }
    #expect(inner.contains("'\(type)'"))
  }

  @Test("encryption, unknown essential properties, and files without a still image are named")
  func features() {
    var encrypted = HEIFFile([Self.coded])
    encrypted.items[0].isProtected = true
    #expect(Self.refusal(encrypted) == .unsupported("its item 1 is encrypted"))
    var scaled = HEIFFile([Self.coded])
    scaled.items[0].properties.append(box("iscl", [UInt8](repeating: 0, count: 12)))
    #expect(Self.refusal(scaled) == nil)
    scaled.items[0].isEssential = true
    #expect(Self.refusal(scaled) == .unsupported("its image needs the unsupported property 'iscl'"))
    #expect(Self.refusal(fileType("msf1") + movie("pict")) == .unsupported("it has no 'meta' box, only 'moov'"))
  }

  @Test("the limit of pixels applies before decoding, and to the sum of all parts")
  func pixels() {
    #expect(Self.refusal(HEIFFile([Self.coded]), pixels: 4095) == .tooManyPixels(Size(width: 64, height: 64)))
    #expect(Self.refusal(HEIFFile([Self.coded]), pixels: 4096) == nil)
    let tiles = Self.derived(
      "grid", from: [Int](repeating: 1, count: 16), data: grid(rows: 4, columns: 4, width: 64, height: 64))
    #expect(Self.refusal(tiles, pixels: 16 * 2048) == nil)
    #expect(Self.refusal(tiles, pixels: 15 * 2048) == .tooManyPixels(nil))
    var huge = HEIFFile([Self.coded])
    huge.items[0].properties[1] = extents(0xFFFF_FFFF, 0xFFFF_FFFF)
    #expect(Self.refusal(huge, pixels: .max) == .tooManyPixels(Size(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF)))
  }

  @Test("the limit of pixels applies to the canvas of a grid or an overlay, whatever its property states")
  func canvas() {
    func overlay(width: Int, height: Int) -> [UInt8] {
      [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] + bigEndian(UInt32(width)) + bigEndian(UInt32(height))
    }
    for (type, fits, exceeds) in [
      ("grid", grid(rows: 1, columns: 1, width: 128, height: 64), grid(rows: 1, columns: 1, width: 129, height: 64)),
      ("iovl", overlay(width: 128, height: 64), overlay(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF)),
    ] {
      #expect(Self.refusal(Self.derived(type, from: [1], data: fits), pixels: 128 * 64) == nil)
      #expect(Self.refusal(Self.derived(type, from: [1], data: exceeds), pixels: 128 * 64) == .tooManyPixels(nil))
    }
    // A decoder makes the canvas of an overlay again for each reference to it.
    var repeated = Self.derived("iovl", from: [1], data: overlay(width: 128, height: 64))
    repeated.primary = repeated.add(
      .init("iovl", properties: [extents(64, 64)], data: overlay(width: 8, height: 8)), ("dimg", [2, 2, 2]))
    #expect(Self.refusal(repeated, pixels: 128 * 64) == .tooManyPixels(nil))
    #expect(Self.refusal(repeated, pixels: 128 * 128) == nil)
  }

  /// A file of one item, whose location has extents of no bytes, with associations of its two properties.
  private static func single(extents: Int, associations: [Int]) -> [UInt8] {
    func short(_ value: Int) -> [UInt8] { bigEndian(UInt16(value)) }
    let lists = associations.map { count in
      box(
        "ipma", [0, 0, 0, 0], bigEndian(UInt32(1)), short(1), [UInt8(count)],
        (0..<count).map { UInt8($0 % 2 + 1) })
    }
    return fileType("heic")
      + box(
        "meta", [0, 0, 0, 0], box("pitm", [0, 0, 0, 0], short(1)),
        box("iloc", [0, 0, 0, 0, 0, 0], short(1), short(1), short(0), short(extents)),
        box("iinf", [0, 0, 0, 0], short(1), box("infe", [2, 0, 0, 0], short(1), short(0), Array("hvc1".utf8), [0])),
        box("iprp", box("ipco", box("hvcC", [1]), BoxTesting.extents(64, 64)), lists.flatMap { $0 }))
  }

  @Test("an item with too many extents has no location, and further properties of an item are left out")
  func manyExtents() {
    #expect(Self.refusal(Self.single(extents: 1 << 14, associations: [2])) == nil)
    #expect(
      Self.refusal(Self.single(extents: (1 << 14) + 1, associations: [2]))
        == .damaged("its item 1 has no valid location"))
    #expect(Self.refusal(Self.single(extents: 1, associations: [200, 200])) == nil)
  }

  @Test("items behind thousands of others are read, and more than any photo has are damage", arguments: [5000, 10_001])
  func manyItems(count: Int) {
    var file = HEIFFile([HEIFFile.Item](repeating: .init("mime"), count: count - 1))
    file.primary = file.add(Self.coded)
    let refusal = HEIFRefusal.damaged("one of its lists has more than 10000 boxes")
    #expect(Self.refusal(file) == (count > 10_000 ? refusal : nil))
  }

  @Test("cycles, too many parts, missing parts and shared bytes are damage")
  func contradictions() {
    func expectDamage(_ file: HEIFFile, _ comment: Testing.Comment) {
      guard case .damaged = Self.refusal(file, pixels: .max) else {
        Issue.record(comment)
        return
      }
    }
    expectDamage(Self.derived("iden", from: [2]), "derived from itself")
    expectDamage(Self.derived("iden", from: [9]), "derived from a missing item")
    expectDamage(Self.derived("iovl", from: []), "derived from nothing")
    // Each overlay refers to the one before a hundred times.
    var layers = Self.derived("iovl", from: [Int](repeating: 1, count: 100))
    for _ in 0..<5 {
      layers.primary = layers.add(
        .init("iovl", properties: [extents(64, 64)]), ("dimg", [Int](repeating: layers.primary, count: 100)))
    }
    expectDamage(layers, "too many visits")
    var chain = Self.derived("iden", from: [1])
    for _ in 0..<20 {
      chain.primary = chain.add(.init("iden", properties: [extents(64, 64)]), ("dimg", [chain.primary]))
    }
    expectDamage(chain, "too deep")
    var shared = HEIFFile([Self.coded])
    for _ in 0..<50 { _ = shared.add(Self.coded) }
    shared.primary = shared.add(.init("grid", properties: [extents(64, 64)]), ("dimg", Array(1...51)))
    #expect(Self.refusal(shared) == nil)
    for index in 0..<51 { shared.items[index].extent = (index, 5000) }
    expectDamage(shared, "shared bytes")
    // Encoders write equal tiles once.
    for index in 0..<51 { shared.items[index].extent = (0, 5000) }
    #expect(Self.refusal(shared) == nil)
    var unsized = HEIFFile([Self.coded])
    unsized.items[0].properties.removeLast()
    expectDamage(unsized, "no size")
    var bare = HEIFFile([Self.coded])
    bare.items[0].properties.removeFirst()
    expectDamage(bare, "no configuration")
  }

  @Test("an item after the end of the file means that the file is truncated")
  func itemAfterTheEnd() {
    for place in [(100, 0xFFFF_FF00), (0xFFFF_FFFF, 1), (0xFFFF_FFFF, 0xFFFF_FFFF)] {
      var file = HEIFFile([Self.coded])
      file.items[0].extent = place
      #expect(Self.refusal(file) == .truncated("its item 1 lies after the end of the file"))
    }
  }
}
