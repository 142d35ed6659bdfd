/// How much of each pixel in the top left corner of a rounded rectangle is covered; its other corners are reflections.
package struct CornerMask: Hashable, Sendable {
  /// Pixels along an edge of the corner.
  package let side: Int
  /// `side` x `side` values, row by row: 0 outside, 255 inside.
  package let coverage: [UInt8]

  /// The mask at full resolution: the distance of each pixel's centre from the circle, as a ramp one pixel wide.
  package init(radius: Int) {
    side = radius
    coverage = (0..<radius * radius).map { index in
      Self.coverage(x: index % radius, y: index / radius, radius: radius)
    }
  }

  /// The mask for planes of half the width and height (4:2:0): each value is the mean of the four it stands for.
  package init(subsampledRadius radius: Int) {
    let side = (radius + 1) / 2
    self.side = side
    coverage = (0..<side * side).map { index in
      let x = index % side * 2
      let y = index / side * 2
      let sum = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].reduce(0) { sum, pixel in
        sum + Int(Self.coverage(x: pixel.0, y: pixel.1, radius: radius))
      }
      return UInt8((sum + 2) / 4)
    }
  }

  /// Halves are exact and the square root is correctly rounded (IEEE 754): the same on every processor.
  private static func coverage(x: Int, y: Int, radius: Int) -> UInt8 {
    let radius = Double(radius)
    let horizontal = max(radius - Double(x) - 0.5, 0)
    let vertical = max(radius - Double(y) - 0.5, 0)
    let distance = (horizontal * horizontal + vertical * vertical).squareRoot()
    return UInt8((255 * min(max(radius + 0.5 - distance, 0), 1)).rounded())
  }
}
