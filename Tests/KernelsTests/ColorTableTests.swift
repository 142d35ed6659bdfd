import Kernels
import Testing

@Suite("Colour tables")
struct ColorTableTests {
  /// Converts a 10-bit image of one colour.
  static func mapped(_ table: ColorTable, y: UInt16, u: UInt16, v: UInt16) -> (UInt8, UInt8, UInt8) {
    let planes = [y, u, v].map { value in [UInt16](repeating: value, count: 64) }
    let target = ImageBuffer(width: 8, height: 8)
    planes[0].withUnsafeBytes { y in
      planes[1].withUnsafeBytes { u in
        planes[2].withUnsafeBytes { v in
          table.map(
            ColorTable.Source(y: (y.baseAddress!, 16), u: (u.baseAddress!, 8), v: (v.baseAddress!, 8)),
            into: target.imagePlanes)
        }
      }
    }
    return (target.imagePlanes.y[3, 5], target.imagePlanes.u[1, 2], target.imagePlanes.v[2, 1])
  }

  static let quarter = ColorTable { ColorTable.Codes(y: $0.y / 4, u: $0.u / 4, v: $0.v / 4) }

  @Test(
    "a table is interpolated between its nodes",
    arguments: [(0, 0, 0), (64, 512, 512), (517, 333, 777), (940, 64, 960), (1023, 1023, 1023)]
      as [(UInt16, UInt16, UInt16)])
  func interpolates(y: UInt16, u: UInt16, v: UInt16) {
    let found = Self.mapped(Self.quarter, y: y, u: u, v: v)
    for (value, expected) in zip([found.0, found.1, found.2], [y, u, v]) {
      #expect(abs(Double(value) - min(255, Double(expected) / 4)) <= 0.76)
    }
  }

  @Test("codes of more than ten bits are clamped")
  func clamps() {
    #expect(
      Self.mapped(Self.quarter, y: 65535, u: 65535, v: 40000) == Self.mapped(Self.quarter, y: 1023, u: 1023, v: 1023))
  }

  @Test("luma can depend on chroma, and chroma on luma")
  func depends() {
    let table = ColorTable { ColorTable.Codes(y: $0.u / 4, u: $0.y / 4, v: 255 - $0.v / 4) }
    let (y, u, v) = Self.mapped(table, y: 400, u: 800, v: 200)
    #expect(abs(Int(y) - 200) <= 1 && abs(Int(u) - 100) <= 1 && abs(Int(v) - 205) <= 1)
  }
}

@Suite("Colour corrections")
struct ColorCorrectionTests {
  @Test("the identity changes no colour")
  func identity() {
    let image = PlanarImage(width: 64, height: 48, halvesChroma: true)
    for index in 0..<3 {
      let plane = image.plane(index)
      for y in 0..<plane.height {
        for x in 0..<plane.width { plane[x, y] = UInt8((x * 7 + y * 13 + index * 50) % 256) }
      }
    }
    let before = image.rgb()
    image.correct(ColorCorrection { $0 })
    #expect(zip(image.rgb(), before).allSatisfy(==))
  }

  @Test("the result is the same with and without vector instructions")
  func portableColors() {
    let correction = ColorCorrection { colors in colors.map { UInt16(min(65535, Int($0) * 7 / 8 + 3000)) } }
    for (width, height) in [(64, 48), (37, 21), (8, 2), (3, 3)] {
      for halves in [true, false] {
        let images = [false, true].map { portable in
          let image = PlanarImage(width: width, height: height, halvesChroma: halves)
          for index in 0..<3 {
            let plane = image.plane(index)
            for y in 0..<plane.height {
              for x in 0..<plane.width { plane[x, y] = UInt8(truncatingIfNeeded: x &* 37 ^ y &* 101 ^ index &* 71) }
            }
          }
          image.correct(correction, portable: portable)
          return image.rgb()
        }
        #expect(zip(images[0], images[1]).allSatisfy(==), "\(width)x\(height), \(halves)")
      }
    }
  }
}
