extension Definition {
  /// The frame that is composed.
  package struct Canvas: Codable, Sendable, Hashable {
    /// How a picture of another shape fills its rectangle.
    package enum Fit: String, Codable, Sendable {
      /// Fill it and cut what stands over.
      case crop
      /// Show all of it; what remains of the rectangle has the canvas's colour, and an inset takes the picture's shape.
      case fit
    }

    package var width = 1080
    package var height = 1920
    package var framesPerSecond = 30
    package var fit = Fit.crop
    /// Of what no picture covers; nil: black.
    package var color: RGBColor?

    /// In pixels.
    package var size: Size { Size(width: width, height: height) }
  }
}
