import BoxTesting
import ISOBaseMedia
import Testing

@Suite("The picture of a HEIF")
struct HEIFPictureTests {
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

  /// A picture of parts.
  static func derived(_ type: String, from parts: [Int], data: [UInt8] = []) -> HEIFFile {
    var file = HEIFFile([coded])
    file.primary = file.add(.init(type, properties: [extents(64, 64)], data: data), ("dimg", parts))
    return file
  }

  @Test("the primary item is kept with what it is made of, and the rest is left out")
  func kept() throws {
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
    let picture = try HEIFImage(file.bytes, pixels: 1 << 20)
    #expect(HEIFItems(picture.bytes)?.types == ["grid", "hvc1", "hvc1"])
    #expect(picture.exif.elementsEqual("MM\0*".utf8))
    #expect(picture.bytes.count < 1000)
    // What was made of a file is a file of the same picture.
    #expect(try HEIFImage(picture.bytes, pixels: 1 << 20).bytes == picture.bytes)
    #expect(alpha == 3)
  }

  @Test("a cut file is not whole, wherever it ends")
  func cut() {
    let whole = HEIFFile([Self.coded]).bytes
    #expect(Self.refusal(whole) == nil)
    for count in 0..<whole.count {
      guard case .truncated = Self.refusal(Array(whole.prefix(count))) else {
        Issue.record("\(count): \(String(describing: Self.refusal(Array(whole.prefix(count)))))")
        return
      }
    }
  }

  @Test("what cannot be decoded is named", arguments: ["unci", "jpeg", "vvc1", "tmap", "avc1"])
  func named(type: String) {
    var file = HEIFFile([Self.coded])
    file.items[0].type = type
    guard case .unsupported(let finding) = Self.refusal(file) else {
      Issue.record("taken")
      return
    }
    #expect(finding.contains("'\(type)'"))
    let part = Self.derived("iden", from: [3])
    var whole = part
    _ = whole.add(.init(type, properties: [extents(64, 64)]))
    guard case .unsupported(let inner) = Self.refusal(whole) else {
      Issue.record("taken as a part")
      return
    }
    #expect(inner.contains("'\(type)'"))
  }

  @Test("encryption, essential properties that are unknown, and files without a still picture are named")
  func features() {
    var encrypted = HEIFFile([Self.coded])
    encrypted.items[0].isProtected = true
    #expect(Self.refusal(encrypted) == .unsupported("its item 1 is encrypted"))
    var scaled = HEIFFile([Self.coded])
    scaled.items[0].properties.append(box("iscl", [UInt8](repeating: 0, count: 12)))
    #expect(Self.refusal(scaled) == nil)
    scaled.items[0].isEssential = true
    #expect(Self.refusal(scaled) == .unsupported("its picture needs the property 'iscl', which is not known here"))
    #expect(Self.refusal(fileType("msf1") + movie("pict")) == .unsupported("it has no 'meta' box, only 'moov'"))
  }

  @Test("pixels are counted before anything is decoded, and those of all parts together")
  func pixels() {
    #expect(Self.refusal(HEIFFile([Self.coded]), pixels: 4095) == .tooManyPixels)
    #expect(Self.refusal(HEIFFile([Self.coded]), pixels: 4096) == nil)
    let tiles = Self.derived(
      "grid", from: [Int](repeating: 1, count: 16), data: grid(rows: 4, columns: 4, width: 64, height: 64))
    #expect(Self.refusal(tiles, pixels: 16 * 2048) == nil)
    #expect(Self.refusal(tiles, pixels: 15 * 2048) == .tooManyPixels)
    var huge = HEIFFile([Self.coded])
    huge.items[0].properties[1] = extents(0xFFFF_FFFF, 0xFFFF_FFFF)
    #expect(Self.refusal(huge, pixels: .max) == .tooManyPixels)
  }

  @Test("pictures of themselves, of too many parts, of none, and of shared bytes are damaged")
  func contradictions() {
    func expectDamage(_ file: HEIFFile, _ comment: Comment) {
      guard case .damaged = Self.refusal(file, pixels: .max) else {
        Issue.record(comment)
        return
      }
    }
    expectDamage(Self.derived("iden", from: [2]), "of itself")
    expectDamage(Self.derived("iden", from: [9]), "of nothing that is there")
    expectDamage(Self.derived("iovl", from: []), "of nothing")
    // Each layer lays the one before over itself a hundred times.
    var layers = Self.derived("iovl", from: [Int](repeating: 1, count: 100))
    for _ in 0..<5 {
      layers.primary = layers.add(
        .init("iovl", properties: [extents(64, 64)]), ("dimg", [Int](repeating: layers.primary, count: 100)))
    }
    expectDamage(layers, "of a hundred times a hundred")
    var chain = Self.derived("iden", from: [1])
    for _ in 0..<20 {
      chain.primary = chain.add(.init("iden", properties: [extents(64, 64)]), ("dimg", [chain.primary]))
    }
    expectDamage(chain, "too deep")
    var shared = HEIFFile([Self.coded])
    for _ in 0..<50 { _ = shared.add(Self.coded) }
    shared.primary = shared.add(.init("grid", properties: [extents(64, 64)]), ("dimg", Array(1...51)))
    #expect(Self.refusal(shared) == nil)
    for index in 0..<51 { shared.items[index].place = (0, 5000) }
    expectDamage(shared, "shared bytes")
    var unsized = HEIFFile([Self.coded])
    unsized.items[0].properties.removeLast()
    expectDamage(unsized, "no size")
    var bare = HEIFFile([Self.coded])
    bare.items[0].properties.removeFirst()
    expectDamage(bare, "no configuration")
  }

  @Test("a place behind the end of the file means that the file is not whole")
  func behindTheEnd() {
    for place in [(100, 0xFFFF_FF00), (0xFFFF_FFFF, 1), (0xFFFF_FFFF, 0xFFFF_FFFF)] {
      var file = HEIFFile([Self.coded])
      file.items[0].place = place
      #expect(Self.refusal(file) == .truncated("its item 1 lies behind the end of the file"))
    }
  }
}
