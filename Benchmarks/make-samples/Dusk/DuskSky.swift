import Glibc
internal import SyntheticMedia

/// The evening sky: a gradient, the low sun with its glow, the first stars, and clouds lit from below.
struct DuskSky {
  /// Where the sun stands.
  static let sun = Point(0.67, 0.885)
  private static let clouds = Noise(seed: 11)
  private static let stars = Noise(seed: 12)
  private static let gradient = Gradient([
    (0.00, Color(0.10, 0.13, 0.33)), (0.28, Color(0.24, 0.22, 0.48)), (0.52, Color(0.56, 0.34, 0.54)),
    (0.70, Color(0.86, 0.46, 0.45)), (0.84, Color(0.99, 0.63, 0.36)), (0.98, Color(1.00, 0.83, 0.50)),
  ])

  let time: Float

  /// The sky without clouds, which is all that water mirrors well.
  func clear(_ point: Point) -> Color {
    let away = length((point - Self.sun) * Point(0.8, 1.25))
    let glow = 1 / (1 + 42 * away * away)
    let disc = coverage(circle(point, Self.sun, 0.047), softness: 0.006)
    let sky = Self.gradient.color(at: point.y) + Color(0.34, 0.20, 0.02) * glow
    return mix(sky, Color(1, 0.95, 0.80), disc)
  }

  /// The whole sky.
  func color(_ point: Point) -> Color {
    var color = clear(point)
    if point.y < 0.5 { color += starlight(point) * (1 - point.y * 2) }
    return veil(point, over: color)
  }

  /// Fields of cloud, flattened towards the horizon as all that lies flat is seen from the ground.
  private func veil(_ point: Point, over sky: Color) -> Color {
    let depth = 1.18 - point.y
    let field = Point((point.x - 0.5) / (depth + 0.25) * 2.2 + time * 0.035, 2.6 / (depth + 0.18))
    let body = Self.clouds.fractal(field.x, field.y, octaves: 5)
    let cover = smoothstep(0.44, 0.70, body) * smoothstep(0.02, 0.35, point.y) * smoothstep(0.99, 0.80, point.y)
    guard cover > 0 else { return sky }
    // Thin towards the sun means lit, thick means in its own shadow.
    let towardsSun = Self.clouds.fractal(field.x + (Self.sun.x - point.x) * 0.35, field.y + 0.22, octaves: 3)
    let light = saturate(0.55 + 2.6 * (body - towardsSun))
    let near = 1 / (1 + 5 * length(point - Self.sun))
    let shade = mix(Color(0.27, 0.21, 0.42), Color(0.62, 0.33, 0.44), smoothstep(0.1, 0.85, point.y))
    let lit = mix(Color(0.93, 0.50, 0.47), Color(1.0, 0.76, 0.50), near * 1.4)
    return mix(sky, mix(shade, lit, light), cover * 0.88)
  }

  /// One star at most in each cell of a grid.
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
