import Stills
import Testing

@Suite("Exif")
struct ExifTests {
  private static let little: [UInt8] =
    Array("II*\0".utf8) + [8, 0, 0, 0, 2, 0] + [0x12, 0x01, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0]
    + [0x10, 0x01, 2, 0, 4, 0, 0, 0, 0x58, 0x59, 0x5A, 0] + [0, 0, 0, 0]

  @Test("reads the orientation and fields in both byte orders")
  func fields() {
    let exif = Exif(Self.little[...])
    #expect(exif.orientation == 8)
    #expect(exif.identifying.map(\.name) == ["Model"])
    let big: [UInt8] = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
    #expect(Exif(big[...]).orientation == 6)
  }

  @Test("parsing ends with directories that point at themselves or outside of the data")
  func damage() {
    var bytes = Self.little
    // The second field becomes a pointer from the directory to itself.
    bytes.replaceSubrange(22..<34, with: [0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0])
    #expect(Exif(bytes[...]).orientation == 8)
    bytes.replaceSubrange(30..<34, with: [0xFF, 0xFF, 0xFF, 0x7F])
    #expect(Exif(bytes[...]).orientation == 8)
    for count in 0..<bytes.count { _ = Exif(bytes.prefix(count)) }
    #expect(Exif([]).orientation == 1)
  }

  @Test("an orientation out of range is ignored")
  func range() {
    var bytes = Self.little
    bytes[18] = 9
    #expect(Exif(bytes[...]).orientation == 1)
  }
}
