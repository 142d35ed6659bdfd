import BoxTesting
import ISOBaseMedia
import Platform
import Testing

@Suite("References and properties of HEIF")
struct HEIFTreatmentTests {
  static let references = HEIFTreatment.references.sorted { $0.key.description < $1.key.description }
    .map { (type: $0.key.description, treatment: $0.value) }
  static let properties = HEIFTreatment.properties.sorted { $0.key.description < $1.key.description }
    .map { (type: $0.key.description, treatment: $0.value) }

  /// Whether a file has a box of this type.
  private func has(_ type: String, _ bytes: [UInt8]) -> Bool { bytes.contains(Array(type.utf8)) }

  /// An image with an alpha channel, and a second image that no part of it is.
  private static var file: HEIFFile {
    var file = HEIFFile([HEIFImageTests.coded])
    _ = file.add(
      .init(
        "hvc1", properties: HEIFImageTests.coded.properties + [auxiliaryType("urn:mpeg:hevc:2015:auxid:1")],
        data: [7, 7]), ("auxl", [1]))
    _ = file.add(.init("hvc1", properties: HEIFImageTests.coded.properties, data: [8, 8]))
    return file
  }

  @Test("each type of reference is kept, applied, refused or left out as the table says", arguments: references)
  func reference(type: String, treatment: HEIFTreatment) throws {
    var file = Self.file
    switch type {
    // The image above has one.
    case "auxl": break
    case "prem": file.references.append((type, 1, [2]))
    case "dimg": file.primary = file.add(.init("iden", properties: [extents(64, 64)]), (type, [1]))
    case "cdsc": _ = file.add(.init("Exif", data: [0, 0, 0, 0] + Array("MM\0*".utf8)), (type, [1]))
    default: file.references.append((type, 1, [3]))
    }
    guard treatment != .refused else {
      #expect(
        HEIFImageTests.refusal(file)
          == .unsupported("its image needs other items by the unsupported reference '\(type)'"))
      return
    }
    let image = try HEIFImage(file.bytes, pixels: 1 << 20)
    #expect(has(type, image.bytes) == (treatment == .kept))
    #expect(image.exif.isEmpty == (type != "cdsc"))
    #expect(image.isPremultiplied == (type == "prem"))
    // Rewriting a rewritten file changes nothing.
    #expect(try HEIFImage(image.bytes, pixels: 1 << 20).bytes == image.bytes)
  }

  @Test("a reference of an item that is no part of the image refuses nothing, and an unknown one neither")
  func otherReferences() throws {
    for (type, treatment) in Self.references where treatment == .refused {
      var file = Self.file
      file.references.append((type, 3, [1]))
      #expect(HEIFImageTests.refusal(file) == nil, "\(type)")
    }
    var file = Self.file
    file.references.append(("abcd", 1, [3]))
    #expect(try !has("abcd", HEIFImage(file.bytes, pixels: 1 << 20).bytes))
  }

  @Test("each type of property is kept, applied, refused or left out as the table says", arguments: properties)
  func property(type: String, treatment: HEIFTreatment) throws {
    var file = HEIFFile([HEIFImageTests.coded])
    if type != "ispe" && type != "hvcC" { file.items[0].properties.append(box(type, [1, 0, 0, 0])) }
    file.items[0].isEssential = true
    guard treatment != .refused else {
      #expect(HEIFImageTests.refusal(file) == .unsupported("its image needs the unsupported property '\(type)'"))
      // The standard makes them essential; a file that does not means that the image may be shown without.
      file.items[0].isEssential = false
      #expect(HEIFImageTests.refusal(file) == nil)
      return
    }
    let image = try HEIFImage(file.bytes, pixels: 1 << 20)
    #expect(has(type, image.bytes) == (treatment == .kept))
    #expect(image.properties.steps.isEmpty == (treatment != .applied))
  }

  @Test("an essential property that the table does not have is refused")
  func unknown() {
    var file = HEIFFile([HEIFImageTests.coded])
    file.items[0].properties.append(box("abcd", [1]))
    file.items[0].isEssential = true
    #expect(HEIFImageTests.refusal(file) == .unsupported("its image needs the unsupported property 'abcd'"))
  }

  @Test("docs/definition.md has the table")
  func document() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let text = String(decoding: try Descriptor(reading: "/\(root)/docs/definition.md").contents(), as: UTF8.self)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }
      .map { $0.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init) }
    func types(_ cell: String) -> [String] {
      cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
    for treatment in HEIFTreatment.allCases {
      let row = try #require(rows.first { $0.count == 3 && $0[0] == treatment.rawValue }, "\(treatment)")
      #expect(types(row[1]) == Self.references.filter { $0.treatment == treatment }.map(\.type))
      #expect(types(row[2]) == Self.properties.filter { $0.treatment == treatment }.map(\.type))
    }
  }
}
