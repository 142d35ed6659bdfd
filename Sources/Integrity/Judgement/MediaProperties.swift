/// What a media file is, as its asset tells or as it was found by decoding.
package struct MediaProperties: Sendable, Hashable {
  /// The media type (RFC 6838).
  package let type: String
  /// In pixels, upright.
  package let width: Int?
  package let height: Int?
  /// In seconds.
  package let duration: Double?

  package init(type: String, width: Int? = nil, height: Int? = nil, duration: Double? = nil) {
    self.type = type
    self.width = width
    self.height = height
    self.duration = duration
  }

  /// Times are kept in ticks of the container: what is farther apart is another length.
  private static let tolerance = 0.1

  /// How what was found differs from what is told, in words; empty: in nothing. What one side does not say is not compared.
  package func differences(from told: MediaProperties) -> [String] {
    var differences: [String] = []
    if type != told.type { differences.append("it is \(type), not \(told.type)") }
    if let width, let height, let toldWidth = told.width, let toldHeight = told.height,
      (width, height) != (toldWidth, toldHeight)
    {
      differences.append("it has \(width)x\(height) pixels, not \(toldWidth)x\(toldHeight)")
    }
    if let duration, let toldDuration = told.duration, abs(duration - toldDuration) > Self.tolerance {
      differences.append("it lasts \(Self.text(duration)) s, not \(Self.text(toldDuration)) s")
    }
    return differences
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000)" }
}
