import Kernels
import Testing

@Suite("Colour tables")
struct ColorTableTests {
  /// A 10-bit picture of one colour, mapped.
  static func mapped(_ table: ColorTable, y: UInt16, u: UInt16, v: UInt16) -> (UInt8, UInt8, UInt8) {
    let planes = [y, u, v].map { value in [UInt16](repeating: value, count: 64) }
    let target = ImageBuffer(width: 8, height: 8)
    planes[0].withUnsafeBytes { y in
      planes[1].withUnsafeBytes { u in
        planes[2].withUnsafeBytes { v in
          table.map(
            ColorTable.Source(y: (y.baseAddress!, 16), u: (u.baseAddress!, 8), v: (v.baseAddress!, 8)),
            into: target.picture)
        }
      }
    }
    return (target.picture.y[3, 5], target.picture.u[1, 2], target.picture.v[2, 1])
  }

  static let quarter = ColorTable { ColorTable.Codes(y: $0.y / 4, u: $0.u / 4, v: $0.v / 4) }

  @Test(
    "between its nodes a table gives what lies between",
    arguments: [(0, 0, 0), (64, 512, 512), (517, 333, 777), (940, 64, 960), (1023, 1023, 1023)]
      as [(UInt16, UInt16, UInt16)])
  func interpolates(y: UInt16, u: UInt16, v: UInt16) {
    let found = Self.mapped(Self.quarter, y: y, u: u, v: v)
    for (value, expected) in zip([found.0, found.1, found.2], [y, u, v]) {
      #expect(abs(Double(value) - min(255, Double(expected) / 4)) <= 0.76)
    }
  }

  @Test("codes beyond ten bits are the brightest, and read nothing outside of the table")
  func clamps() {
    #expect(
      Self.mapped(Self.quarter, y: 65535, u: 65535, v: 40000) == Self.mapped(Self.quarter, y: 1023, u: 1023, v: 1023))
  }

  @Test("luma may depend on chroma, and chroma on luma")
  func depends() {
    let table = ColorTable { ColorTable.Codes(y: $0.u / 4, u: $0.y / 4, v: 255 - $0.v / 4) }
    let (y, u, v) = Self.mapped(table, y: 400, u: 800, v: 200)
    #expect(abs(Int(y) - 200) <= 1 && abs(Int(u) - 100) <= 1 && abs(Int(v) - 205) <= 1)
  }
}
