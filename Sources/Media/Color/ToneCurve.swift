/// How light beyond what SDR can show is brought within it.
///
/// Up to a knee nothing changes, so that faces and rooms keep the brightness that the other camera gives them; above it
/// the curve leaves the knee with the same slope and bends to reach 1 at the brightest light.
struct ToneCurve: Hashable, Sendable {
  private static let knee = 0.7
  private let brightest: Double
  private let bend: Double

  /// - Parameter brightest: the light that becomes 1, in units of reference white.
  init(brightest: Double) {
    self.brightest = brightest
    let steepness = (brightest - Self.knee) / (1 - Self.knee)
    bend = steepness > 1 ? 1 / (steepness - 1) : .infinity
  }

  /// The light that is shown for a light, 0 to 1.
  func shown(_ light: Double) -> Double {
    guard light > Self.knee, bend.isFinite else { return min(light, 1) }
    let share = min((light - Self.knee) / (brightest - Self.knee), 1)
    return Self.knee + (1 - Self.knee) * share * (1 + bend) / (share + bend)
  }
}
