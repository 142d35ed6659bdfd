extension Definition {
  /// The frame that is composed.
  package struct Canvas: Codable, Sendable, Hashable {
    /// How a picture of another shape fills its rectangle.
    package enum Fit: String, Codable, Sendable {
      /// Fill it and cut what stands over.
      case crop
    }

    package var width: Int
    package var height: Int
    package var framesPerSecond: Int
    package var fit: Fit

    /// In pixels.
    package var size: Size { Size(width: width, height: height) }
  }
}
