import Kernels
import Testing

/// Sizes around the kernel's tiles (16) and strips (480), and odd ones.
private let sizes = [(1, 1), (3, 2), (16, 16), (17, 31), (64, 48), (33, 65), (497, 35), (962, 18), (7, 481)]

@Suite("Orientation")
struct OrientationTests {
  @Test("transforms equal their definition", arguments: sizes)
  func definition(width: Int, height: Int) {
    let pixels = Pixels.noise(width: width, height: height, seed: 1)
    for orientation in Orientation.allCases {
      #expect(
        pixels.transformed(by: orientation) == pixels.transformedByDefinition(by: orientation), "\(orientation)")
    }
  }

  @Test("the inverse restores the pixels", arguments: sizes)
  func inverse(width: Int, height: Int) {
    let pixels = Pixels.noise(width: width, height: height, seed: 2)
    for orientation in Orientation.allCases {
      #expect(
        pixels.transformed(by: orientation).transformed(by: orientation.inverse) == pixels, "\(orientation)")
    }
  }

  @Test("a composition equals both transforms in sequence", arguments: Orientation.allCases, Orientation.allCases)
  func composition(first: Orientation, second: Orientation) {
    let pixels = Pixels.noise(width: 19, height: 6, seed: 3)
    let twice = pixels.transformed(by: first).transformed(by: second)
    #expect(pixels.transformed(by: first.followed(by: second)) == twice)
  }

  @Test("rotation is clockwise")
  func clockwise() {
    let row = Pixels(width: 2, height: 1) { x, _ in UInt8(x) }
    let column = row.transformed(by: .rotated90)
    #expect(column[0, 0] == 0 && column[0, 1] == 1)
    let mirrored = row.transformed(by: .mirrored)
    #expect(mirrored[0, 0] == 1 && mirrored[1, 0] == 0)
  }

  @Test("quarter turns are taken modulo four", arguments: [(-1, 3), (4, 0), (5, 1), (-6, 2)])
  func quarterTurns(turns: Int, expected: Int) {
    #expect(Orientation(quarterTurns: turns).quarterTurns == expected)
    #expect(Orientation(quarterTurns: turns, mirroring: true).quarterTurns == expected)
    #expect(Orientation(quarterTurns: turns, mirroring: true).isMirrored)
  }
}
