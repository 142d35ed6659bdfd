import BoxTesting
import ISOBaseMedia
import Model
import StreamValidation
import Testing

@Suite("HEIF and AVIF that arrive")
struct ArrivingHEIFTests {
  private let builtIn: BuiltIn

  init() throws { builtIn = try BuiltIn() }

  private static func image(_ width: Int = 640, _ height: Int = 480, type: String = "hvc1") -> HEIFFile.Item {
    let configuration = type == "hvc1" ? "hvcC" : "av1C"
    return HEIFFile.Item(type, properties: [box(configuration, zeros(23)), extents(width, height)], data: zeros(900))
  }

  /// What `HEIFImage` says about the whole file.
  private func whole(_ file: [UInt8]) -> HEIFRefusal? {
    do throws(HEIFRefusal) { _ = try HEIFImage(file, pixels: builtIn.photo.pixels) } catch { return error }
    return nil
  }

  private func check(_ file: [UInt8]) {
    let expected = whole(file).map { Reason($0, limits: builtIn.photo) }
    #expect(refusal(of: file, builtIn.any)?.reason.code == expected?.code)
    if let unknown = refusal(of: file, builtIn.any, length: nil) { #expect(unknown.reason.code == expected?.code) }
  }

  @Test("images are accepted")
  func accepted() {
    var grid = HEIFFile([
      HEIFFile.Item(
        "grid", properties: [extents(1000, 400)], data: BoxTesting.grid(rows: 1, columns: 2, width: 1000, height: 400))
    ])
    let tiles = [grid.add(Self.image()), grid.add(Self.image())]
    grid.references.append(("dimg", 1, tiles))
    var motion = HEIFFile([Self.image()])
    motion.rest = box("mpvd", zeros(100)) + [0, 0, 1, 0] + Array("mpvd".utf8)
    for file in [HEIFFile([Self.image()]), HEIFFile([Self.image(type: "av01")]), grid, motion] {
      #expect(whole(file.bytes) == nil)
      check(file.bytes)
      #expect(refusal(of: file.bytes, builtIn.any, length: nil) == nil)
    }
  }

  @Test("what the whole image is refused for is refused by its description")
  func refused() {
    var missing = HEIFFile([Self.image()])
    missing.primary = 7
    var encrypted = HEIFFile([Self.image()])
    encrypted.items[0].isProtected = true
    var outside = HEIFFile([Self.image()])
    outside.items[0].extent = (50, 1 << 20)
    var deep = HEIFFile([HEIFFile.Item("grid", properties: [extents(10, 10)])])
    deep.references.append(("dimg", 1, [1]))
    let files = [
      HEIFFile([Self.image(8001, 8000)]), HEIFFile([Self.image(type: "jpeg")]), missing, encrypted, outside, deep,
      HEIFFile([HEIFFile.Item("hvc1", properties: [extents(10, 10)])]),
    ].map(\.bytes)
    for file in files {
      #expect(whole(file) != nil)
      check(file)
      let detail = whole(file).map { Reason($0, limits: builtIn.photo).detail }
      #expect(refusal(of: file, builtIn.any)?.reason.detail == detail)
    }
    // At the description, before the data.
    let found = refusal(of: files[0], builtIn.any)
    #expect(found?.offset == 24 && found?.reason.code == .tooLarge)
  }

  @Test("a file without its description or its data is refused")
  func truncated() {
    let file = HEIFFile([Self.image()]).bytes
    let start = Array(file.prefix(24))
    let description = Array(file[24..<file.count - 908])
    for cut in [
      start, Array(file.dropLast(1)), Array(file.prefix(100)), start + box("mdat", zeros(50)),
      start + box("moov", zeros(50)), start + box("mini", zeros(5)) + mediaData, start + mediaData.dropLast(),
      start + [0, 0, 0, 7] + Array("meta".utf8) + zeros(90),
    ] {
      #expect(whole(cut) != nil)
      check(cut)
    }
    let large = bigEndian(UInt32(1)) + Array("mdat".utf8) + bigEndian(UInt64.max)
    for whole in [description + large, description + box("mdat", zeros(1 << 12)) + [1, 2, 3]] { check(start + whole) }
    // The description says where the data end.
    #expect(refusal(of: Array(file.dropLast(1)), builtIn.any)?.offset == 24)
  }

  @Test("a long description is not judged")
  func longDescription() {
    var file = HEIFFile([Self.image(8001, 8000)])
    file.items.append(HEIFFile.Item("abcd", properties: [box("free", zeros(600_000))]))
    #expect(refusal(of: file.bytes, builtIn.any) == nil)
  }
}
