/// How one picture is taken.
package struct StillPlan: Codable, Sendable, Hashable {
  package var role: Role
  /// The input whose frame it is; nil: a composed frame.
  package var input: InputName?
  /// The time of the frame from the start, in seconds; past the end it is the last frame.
  package var at: Double
  /// Upright.
  package var size: Size
  /// Of the JPEG, 1 to 100.
  package var quality: Int

  package init(role: Role, input: InputName?, at: Double, size: Size, quality: Int) {
    self.role = role
    self.input = input
    self.at = at
    self.size = size
    self.quality = quality
  }
}
