import Glibc
internal import SyntheticMedia

/// The evening sky: a gradient, the low sun with its glow, the first stars, and clouds lit from below.
struct DuskSky {
  /// The position of the sun.
  static let sun = Point(0.67, 0.885)
  private static let clouds = Noise(seed: 11)
  private static let stars = Noise(seed: 12)
  private static let gradient = Gradient([
    (0.00, Color(0.10, 0.13, 0.33)), (0.28, Color(0.24, 0.22, 0.48)), (0.52, Color(0.56, 0.34, 0.54)),
    (0.70, Color(0.86, 0.46, 0.45)), (0.84, Color(0.99, 0.63, 0.36)), (0.98, Color(1.00, 0.83, 0.50)),
  ])

  let time: Float

  /// Returns the colour of the sky without clouds, which the water reflects.
  func clear(_ point: Point) -> Color {
    let away = length((point - Self.sun) * Point(0.8, 1.25))
    let glow = 1 / (1 + 42 * away * away)
    let disc = coverage(circle(point, Self.sun, 0.047), softness: 0.006)
    let sky = Self.gradient.color(at: point.y) + Color(0.34, 0.20, 0.02) * glow
    return mix(sky, Color(1, 0.95, 0.80), disc)
  }

  /// Returns the colour of the sky with stars and clouds.
  func color(_ point: Point) -> Color {
    var color = clear(point)
    if point.y < 0.5 { color += starlight(point) * (1 - point.y * 2) }
    return veil(point, over: color)
  }

  /// Paints clouds, which are compressed towards the horizon by perspective.
  private func veil(_ point: Point, over sky: Color) -> Color {
    let depth = 1.18 - point.y
    let field = Point((point.x - 0.5) / (depth + 0.25) * 2.2 + time * 0.035, 2.6 / (depth + 0.18))
    let body = Self.clouds.fractal(field.x, field.y, octaves: 5)
    let cover = smoothstep(0.44, 0.70, body) * smoothstep(0.02, 0.35, point.y) * smoothstep(0.99, 0.80, point.y)
    guard cover > 0 else { return sky }
    // A cloud is lit where it is thin towards the sun, and shaded where it is thick.
    let towardsSun = Self.clouds.fractal(field.x + (Self.sun.x - point.x) * 0.35, field.y + 0.22, octaves: 3)
    let light = saturate(0.55 + 2.6 * (body - towardsSun))
    let near = 1 / (1 + 5 * length(point - Self.sun))
    let shade = mix(Color(0.27, 0.21, 0.42), Color(0.62, 0.33, 0.44), smoothstep(0.1, 0.85, point.y))
    let lit = mix(Color(0.93, 0.50, 0.47), Color(1.0, 0.76, 0.50), near * 1.4)
    return mix(sky, mix(shade, lit, light), cover * 0.88)
  }

  /// Returns the light of the stars, at most one in each cell of a grid.
  private func starlight(_ point: Point) -> Color {
    let cell = point * 26
    let (column, row) = (cell.x.rounded(.down), cell.y.rounded(.down))
    let (x, y) = (Int32(column), Int32(row))
    let brightness = Self.stars.value(x, y)
    guard brightness > 0.72 else { return .zero }
    let center = Point(
      column + 0.2 + 0.6 * Self.stars.value(x + 500, y), row + 0.2 + 0.6 * Self.stars.value(x, y + 500))
    let twinkle = 0.7 + 0.3 * sin(time * (2 + 3 * brightness) + 40 * brightness)
    let spot = max(0, 1 - length(cell - center) / 0.055)
    return Color(0.9, 0.92, 1) * (spot * spot * twinkle * (brightness - 0.6) * 1.8)
  }
}

/// A few flying birds.
struct Birds {
  private static let flock: [(position: Point, size: Float, phase: Float)] = [
    (Point(0.92, 0.60), 0.022, 0.0), (Point(0.97, 0.578), 0.019, 1.1), (Point(1.015, 0.60), 0.018, 2.3),
    (Point(1.06, 0.565), 0.016, 3.4), (Point(0.985, 0.633), 0.017, 4.2),
  ]

  let time: Float

  /// Paints the birds at a point over the sky.
  func paint(_ point: Point, over sky: Color) -> Color {
    guard 0.5..<0.72 ~= point.y else { return sky }
    var color = sky
    for bird in Self.flock {
      let center = bird.position + Point(-0.062 * time, -0.010 * time + 0.004 * sin(2 * time + bird.phase))
      let offset = point - center
      guard abs(offset.x) < 1.2 * bird.size && abs(offset.y) < bird.size else { continue }
      // Gulls glide between strokes.
      let flap = sin(7.5 * time + bird.phase * 2) * (0.55 + 0.45 * sin(1.7 * time + bird.phase))
      let span = abs(offset.x) / bird.size
      let wing = (0.30 * flap + 0.12) * (span * (1.6 - 0.75 * span)) * bird.size
      let thickness = bird.size * 0.085 * (1.15 - span)
      let wings = max(abs(offset.y + wing) - thickness, abs(offset.x) - bird.size)
      let body = ellipse(offset, Point(-0.002, 0), Point(bird.size * 0.28, bird.size * 0.09))
      color = mix(color, Color(0.20, 0.14, 0.26), coverage(min(wings, body)) * 0.9)
    }
    return color
  }
}
