package import Kernels
package import Model

/// The marks of a composed frame inside and outside of its inset.
package struct ComposedFrame {
  /// The counters; nil if there is none.
  package let inset: Int?
  package let background: Int?
  /// The colours in the middle of the inset and along the inside of its edges.
  package let insideColors: Set<MarkColor?>
  /// The colours along the outside of the inset's edges and in the corners of the frame.
  package let outsideColors: Set<MarkColor?>

  /// Reads the marks of a frame with the inset in `area`.
  package init(_ frame: ImagePlanes, inset area: Rectangle) {
    let region = frame.region(x: area.x, y: area.y, width: area.width, height: area.height)
    inset = CounterBlocks.read(region)
    background = CounterBlocks.read(frame)
    let (right, bottom) = (area.x + area.width, area.y + area.height)
    let (middleX, middleY) = (area.x + area.width / 2, area.y + area.height / 4)
    func color(_ x: Int, _ y: Int) -> MarkColor? {
      MarkColor(u: frame.u[x / 2, y / 2], v: frame.v[x / 2, y / 2])
    }
    insideColors = [
      color(middleX, middleY), color(area.x + 3, middleY), color(right - 4, middleY), color(middleX, area.y + 3),
      color(middleX, bottom - 4),
    ]
    outsideColors = [
      color(area.x - 4, middleY), color(right + 3, middleY), color(middleX, area.y - 4), color(middleX, bottom + 3),
      // The background is visible in the corners of the rectangle, because they are rounded.
      color(area.x + 1, area.y + 1), color(right - 2, area.y + 1), color(area.x + 1, bottom - 2),
      color(right - 2, bottom - 2),
      color(1, 1), color(frame.width - 2, 1), color(1, frame.height - 2), color(frame.width - 2, frame.height - 2),
    ]
  }
}

/// A number as a row of light and dark blocks in the lower half of a frame: eight bits between two different guard
/// blocks, so that a mirrored or rotated frame gives no number.
package enum CounterBlocks {
  private static let columns = 10
  private static let light: UInt8 = 210
  private static let dark: UInt8 = 40

  /// The numbers that the blocks can represent.
  package static let range = 0..<256

  // The blocks span four fifths of the width and a tenth of the height.
  private static func block(_ index: Int, width: Int, height: Int) -> (x: Int, y: Int, width: Int, height: Int) {
    // Each edge is rounded separately, so that the blocks of a scaled frame are where its own size puts them.
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

  /// Returns the blocks of a number in an upright frame with their luma.
  static func rectangles(
    of number: Int, width: Int, height: Int
  ) -> [(rectangle: (x: Int, y: Int, width: Int, height: Int), luma: UInt8)] {
    (0..<columns).map { index in
      (block(index, width: width, height: height), isLight(index, number: number) ? light : dark)
    }
  }

  /// Reads the number in an upright frame or a region of one. Returns nil if there is none.
  package static func read(_ frame: ImagePlanes) -> Int? {
    let bits = (0..<columns).map { index in
      let block = block(index, width: frame.width, height: frame.height)
      let luma = mean(
        frame.y.region(
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
