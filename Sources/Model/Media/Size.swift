/// A width and a height in pixels.
package struct Size: Codable, Sendable, Hashable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The size whose longer edge is at most `edge`, of the same shape, even in both directions and never larger.
  package func fitted(longEdge edge: Int) -> Size {
    let longest = max(width, height)
    guard longest > edge else { return Size(width: Self.even(Double(width)), height: Self.even(Double(height))) }
    let scale = Double(edge) / Double(longest)
    return Size(width: Self.even(Double(width) * scale), height: Self.even(Double(height) * scale))
  }

  /// The size whose longer edge is at most `edge`, of the same shape and never larger; it need not be even.
  package func within(longEdge edge: Int) -> Size {
    let longest = max(width, height)
    guard longest > edge else { return self }
    func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * Double(edge) / Double(longest)).rounded())) }
    return Size(width: scaled(width), height: scaled(height))
  }

  /// The nearest even number, 2 at least: 4:2:0 chroma has half the samples in both directions.
  package static func even(_ value: Double) -> Int { max(2, Int((value / 2).rounded()) * 2) }
}
