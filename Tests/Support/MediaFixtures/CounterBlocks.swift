package import Kernels

/// A number as a row of light and dark blocks in the lower half of a picture: a guard at each end, so that a mirrored or
/// turned picture is not read, and eight bits between them.
package enum CounterBlocks {
  private static let columns = 10
  private static let light: UInt8 = 210
  private static let dark: UInt8 = 40

  /// The numbers that can be told apart.
  package static let range = 0..<256

  // The blocks span four fifths of the width, and a tenth of the height.
  private static func block(_ index: Int, width: Int, height: Int) -> (x: Int, y: Int, width: Int, height: Int) {
    // Each edge is rounded by itself, so that a scaled picture's blocks lie where its own size says.
    let (left, right) = (edge(index, width), edge(index + 1, width))
    return (left, height * 55 / 100 / 2 * 2, right - left, height / 10 / 2 * 2)
  }

  private static func edge(_ index: Int, _ width: Int) -> Int {
    (width / 10 + width * 8 * index / (10 * columns)) / 2 * 2
  }

  private static func isLight(_ index: Int, number: Int) -> Bool {
    switch index {
    case 0: true
    case columns - 1: false
    default: number >> (index - 1) & 1 == 1
    }
  }

  /// The blocks of a number in an upright picture, and what fills each.
  static func rectangles(
    of number: Int, width: Int, height: Int
  ) -> [(rectangle: (x: Int, y: Int, width: Int, height: Int), luma: UInt8)] {
    (0..<columns).map { index in
      (block(index, width: width, height: height), isLight(index, number: number) ? light : dark)
    }
  }

  /// Reads the number out of an upright picture, or a region of one; nil when there is none.
  package static func read(_ picture: ImagePlanes) -> Int? {
    let bits = (0..<columns).map { index in
      let block = block(index, width: picture.width, height: picture.height)
      let luma = mean(
        picture.y.region(
          x: block.x + block.width / 4, y: block.y + block.height / 4, width: max(1, block.width / 2),
          height: max(1, block.height / 2)))
      return luma > 160 ? true : luma < 90 ? false : nil
    }
    guard bits[0] == true, bits[columns - 1] == false, !bits.contains(nil) else { return nil }
    return bits[1..<columns - 1].enumerated().reduce(0) { $0 | ($1.element == true ? 1 << $1.offset : 0) }
  }

  private static func mean(_ plane: Plane) -> Int {
    var sum = 0
    for y in 0..<plane.height {
      for x in 0..<plane.width { sum += Int(plane[x, y]) }
    }
    return sum / (plane.width * plane.height)
  }
}
