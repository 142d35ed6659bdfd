/// How the moving preview is made.
package struct PreviewPlan: Codable, Sendable, Hashable {
  package var role: Role
  /// The input whose pictures it shows; nil: composed ones.
  package var input: InputName?
  /// Where it begins, in seconds from the start.
  package var at: Double
  /// How many pictures it has, and how many of them are shown in a second.
  package var pictures: Int
  package var framesPerSecond: Int
  /// Upright.
  package var size: Size
  /// Of the WebP, 1 to 100.
  package var quality: Int

  package init(
    role: Role = .preview, input: InputName?, at: Double, pictures: Int, framesPerSecond: Int, size: Size, quality: Int
  ) {
    self.role = role
    self.input = input
    self.at = at
    self.pictures = pictures
    self.framesPerSecond = framesPerSecond
    self.size = size
    self.quality = quality
  }
}
