/// Where one input's pictures are drawn on a canvas.
package struct Tile: Codable, Sendable, Hashable {
  package var input: InputName
  /// Even in every number; the picture fills it, and what stands over is cut.
  package var rectangle: Rectangle
  /// Of its corners, in pixels.
  package var radius: Int
  /// A line inside the rectangle; nil: none.
  package var border: Definition.Border?

  package init(input: InputName, rectangle: Rectangle, radius: Int = 0, border: Definition.Border? = nil) {
    self.input = input
    self.rectangle = rectangle
    self.radius = radius
    self.border = border
  }
}
