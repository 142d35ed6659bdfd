internal import SyntheticMedia

/// Colours laid over each other at one point of a picture.
struct Paint {
  /// What is seen so far.
  private(set) var color: Color

  init(over color: Color) { self.color = color }

  /// Lays a colour over the inside of a shape, given by the signed distance to it.
  mutating func fill(_ distance: Float, _ color: Color, opacity: Float = 1, softness: Float = edgeWidth) {
    let cover = coverage(distance, softness: softness) * opacity
    if cover > 0 { self.color = mix(self.color, color, cover) }
  }

  /// Adds light.
  mutating func light(_ color: Color, _ amount: Float) { self.color += color * amount }

  /// Takes light away: 0 none, 1 all.
  mutating func shade(_ amount: Float) {
    // Shadows at dusk are not grey: the sky still fills them with blue.
    self.color *= Color(1, 1, 1) - Color(1, 0.94, 0.78) * saturate(amount)
  }
}
