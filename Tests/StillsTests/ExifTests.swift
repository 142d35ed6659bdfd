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

  @Test("the number of directories is limited, and a field that is repeated is reported once")
  func manyDirectories() {
    // Each directory names a device and points at the next one; the last one points at a position.
    func exif(directories: Int) -> Exif {
      var bytes = Array("II*\0".utf8) + [8, 0, 0, 0]
      for index in 1...directories {
        let isLast = index == directories
        let next = UInt16(8 + 26 * index)
        bytes += [2, 0] + [0x10, 0x01, 2, 0, 4, 0, 0, 0, 0x58, 0x59, 0x5A, 0]
        bytes += [isLast ? 0x25 : 0x69, isLast ? 0x88 : 0x87, 4, 0, 1, 0, 0, 0]
        bytes += [UInt8(next & 255), UInt8(next >> 8), 0, 0]
      }
      return Exif((bytes + [1, 0, 1, 0])[...])
    }
    #expect(exif(directories: 16).identifying.map(\.name) == ["Model", "GPS"])
    #expect(exif(directories: 17).identifying.map(\.name) == ["Model"])
  }

  @Test("fields after the first 512 of a directory are not read", arguments: [512, 513])
  func manyFields(count: Int) {
    var bytes = Array("MM\0*".utf8) + [0, 0, 0, 8, UInt8(count >> 8), UInt8(count & 255)]
    for index in 1...count { bytes += [0x01, index == count ? 0x10 : 0x00] + [UInt8](repeating: 0, count: 10) }
    #expect(Exif(bytes[...]).identifying.map(\.name) == (count > 512 ? [] : ["Model"]))
  }

  @Test(
    "an orientation written as a byte or as four bytes is read in both byte orders", arguments: [1, 3, 4] as [UInt8])
  func widths(type: UInt8) {
    let little: [UInt8] =
      Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 0x01, type, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
    let value: [UInt8] = type == 1 ? [6, 0, 0, 0] : type == 3 ? [0, 6, 0, 0] : [0, 0, 0, 6]
    let big: [UInt8] =
      Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, type, 0, 0, 0, 1] + value + [0, 0, 0, 0]
    #expect(Exif(little[...]).orientation == 6 && Exif(big[...]).orientation == 6)
  }

  @Test("an orientation out of range is ignored")
  func range() {
    var bytes = Self.little
    bytes[18] = 9
    #expect(Exif(bytes[...]).orientation == 1)
  }
}
