/// A rectangle in pixels, its origin at the top left.
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
  /// Whether all of it lies in another one.
  package func isInside(_ other: Rectangle) -> Bool {
    width > 0 && height > 0 && x >= other.x && y >= other.y && x + width <= other.x + other.width
      && y + height <= other.y + other.height
  }

  /// Whether they share a pixel.
  package func intersects(_ other: Rectangle) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}
