/// A span of allowed durations in seconds, both ends included; `[4.5, 5.5]` in JSON.
package struct ClosedSeconds: Codable, Sendable, Hashable {
  package var shortest: Double
  package var longest: Double

  package init(shortest: Double, longest: Double) {
    self.shortest = shortest
    self.longest = longest
  }

  /// Whether a duration is allowed.
  package func contains(_ seconds: Double) -> Bool { shortest <= seconds && seconds <= longest }

  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    shortest = try container.decode(Double.self)
    longest = try container.decode(Double.self)
    guard container.isAtEnd, shortest >= 0, shortest <= longest else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "expected [shortest, longest] in seconds, the shortest first")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(shortest)
    try container.encode(longest)
  }
}
