/// The corner masks of a rounded rectangle in a 4:2:0 image.
package struct RoundedCorners: Hashable, Sendable {
  /// The radius in luma pixels, 0 for square corners.
  package let radius: Int
  /// The mask for the luma plane.
  package let luma: CornerMask
  /// The mask for the chroma planes.
  package let chroma: CornerMask

  package init(radius: Int) {
    precondition(radius >= 0, "the radius is negative")
    self.radius = radius
    luma = CornerMask(radius: radius)
    chroma = CornerMask(subsampledRadius: radius)
  }
}

/// The coverage of each pixel in the top left corner of a rounded rectangle; the other corners are reflections of it.
package struct CornerMask: Hashable, Sendable {
  /// The number of pixels along an edge of the corner.
  package let side: Int
  /// `side` x `side` values, row by row: 0 outside, 255 inside.
  package let coverage: [UInt8]

  /// The mask at full resolution. Across the circle the coverage is a ramp of one pixel, by the distance of a pixel's
  /// centre from the circle.
  package init(radius: Int) {
    side = radius
    coverage = (0..<radius * radius).map { index in
      Self.coverage(x: index % radius, y: index / radius, radius: radius)
    }
  }

  /// The mask for planes of half the width and height (4:2:0): each value is the mean of four luma values.
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

  // Halves are exact and the square root is correctly rounded (IEEE 754), so every processor gives the same result.
  private static func coverage(x: Int, y: Int, radius: Int) -> UInt8 {
    let radius = Double(radius)
    let horizontal = max(radius - Double(x) - 0.5, 0)
    let vertical = max(radius - Double(y) - 0.5, 0)
    let distance = (horizontal * horizontal + vertical * vertical).squareRoot()
    return UInt8((255 * min(max(radius + 0.5 - distance, 0), 1)).rounded())
  }
}
