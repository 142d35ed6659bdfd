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
