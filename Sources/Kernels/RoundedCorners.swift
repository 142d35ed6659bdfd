/// The corner masks of a rounded rectangle in a 4:2:0 picture, made once and used for every frame.
package struct RoundedCorners: Hashable, Sendable {
  /// The radius in luma pixels; 0 for square corners.
  package let radius: Int
  /// For the luma plane.
  package let luma: CornerMask
  /// For both chroma planes.
  package let chroma: CornerMask

  package init(radius: Int) {
    precondition(radius >= 0, "a radius is not negative")
    self.radius = radius
    luma = CornerMask(radius: radius)
    chroma = CornerMask(subsampledRadius: radius)
  }
}
