/// A width and a height in pixels.
package struct Size: Codable, Sendable, Hashable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Scales the size down to a longer edge of at most `edge`, with even sides.
  package func fitted(longEdge edge: Int) -> Size {
    let longest = max(width, height)
    guard longest > edge else { return Size(width: Self.even(Double(width)), height: Self.even(Double(height))) }
    let scale = Double(edge) / Double(longest)
    return Size(width: Self.even(Double(width) * scale), height: Self.even(Double(height) * scale))
  }

  /// Scales the size down to a longer edge of at most `edge`; sides may be odd.
  package func within(longEdge edge: Int) -> Size {
    let longest = max(width, height)
    guard longest > edge else { return self }
    func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * Double(edge) / Double(longest)).rounded())) }
    return Size(width: scaled(width), height: scaled(height))
  }

  /// The nearest even number, at least 2: 4:2:0 chroma has half the resolution in both directions.
  package static func even(_ value: Double) -> Int { max(2, Int((value / 2).rounded()) * 2) }
}

/// A rectangle in pixels; the origin is at the top left.
package struct Rectangle: Codable, Sendable, Hashable {
  package let x: Int
  package let y: Int
  package let width: Int
  package let height: Int

  package init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

extension Rectangle {
  /// Whether another rectangle contains it. An empty rectangle is inside of none.
  package func isInside(_ other: Rectangle) -> Bool {
    width > 0 && height > 0 && x >= other.x && y >= other.y && x + width <= other.x + other.width
      && y + height <= other.y + other.height
  }

  /// Whether two rectangles share a pixel.
  package func intersects(_ other: Rectangle) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}
