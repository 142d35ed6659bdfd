extension Definition {
  /// A short moving picture without sound, for pins on a map and cells of a calendar: an animated WebP.
  package struct Preview: Codable, Sendable, Hashable {
    package var from: Still.Source
    /// Where it begins, in seconds from the start.
    package var at: Double
    /// How long it lasts before it begins again.
    package var seconds: Double
    package var framesPerSecond: Int
    /// In pixels; never enlarged.
    package var longEdge: Int
    /// Of the WebP, 1 to 100.
    package var quality: Int
  }
}
