import Glibc
internal import SyntheticMedia

/// Four ranges of hills, paler with distance, and the lights of a village at the shore.
struct DuskHills {
  /// The height at which the hills end and the water starts.
  static let shore: Float = 0.985

  private struct Range {
    let noise: Noise
    let base: Float
    let height: Float
    let detail: Float
    let color: Color
    let parallax: Float
  }

  private static let ranges = [
    Range(
      noise: Noise(seed: 21), base: 0.915, height: 0.17, detail: 2.1, color: Color(0.80, 0.47, 0.47), parallax: 0.5),
    Range(
      noise: Noise(seed: 22), base: 0.945, height: 0.14, detail: 2.9, color: Color(0.60, 0.34, 0.44), parallax: 0.56),
    Range(
      noise: Noise(seed: 26), base: 0.965, height: 0.10, detail: 4.2, color: Color(0.40, 0.24, 0.39), parallax: 0.63),
    Range(
      noise: Noise(seed: 24), base: 0.985, height: 0.065, detail: 6.5, color: Color(0.20, 0.14, 0.28), parallax: 0.7),
  ]
  private static let village = Noise(seed: 31)

  let time: Float
  /// The motion of the camera; nearer ranges follow it more.
  let sway: Point

  /// Paints the hills at a point over the sky.
  func paint(_ point: Point, over sky: Color, withLights: Bool = true) -> Color {
    guard point.y > 0.70 else { return sky }
    var color = sky
    for range in Self.ranges {
      let position = point + sway * (range.parallax - 1)
      // The hills are low under the sun and rise to both sides.
      let valley = smoothstep(0.0, 0.45, abs(position.x - DuskSky.sun.x))
      let ridge = range.noise.fractal(position.x * range.detail + 3, 0.5, octaves: 6)
      let trees = range.noise.fractal(position.x * range.detail * 17, 7.5, octaves: 3) - 0.5
      let top = range.base - range.height * (ridge * (0.35 + 0.65 * valley) + 0.10 * trees)
      let cover = coverage(top - position.y, softness: 2 * edgeWidth)
      guard cover > 0 else { continue }
      // Mist gathers at the foot of each range, and the sun shines through it.
      let mist = smoothstep(top, range.base + 0.03, position.y)
      let glow = 1 / (1 + 14 * abs(position.x - DuskSky.sun.x))
      let woods = 0.09 * (range.noise.fractal(position.x * 46, position.y * 70, octaves: 4) - 0.5)
      let body = mix(range.color, range.color * 1.12 + Color(0.20, 0.10, 0.06) * glow, mist) + woods
      color = mix(color, body, cover)
    }
    return withLights ? color + lights(point + sway * -0.3) : color
  }

  /// Returns the light of the windows along the shore, each with a halo and a slight flicker.
  func lights(_ point: Point) -> Color {
    let height = point.y - (Self.shore - 0.012)
    guard abs(height) < 0.05 else { return .zero }
    var light = Color.zero
    let cell = (point.x * 30).rounded(.down)
    for neighbour in -1...1 {
      let index = Int(cell) + neighbour
      let chance = Self.village.value(index)
      // There are more houses to the left and none under the sun.
      guard chance > mix(0.35, 1.05, smoothstep(0.05, 0.62, Float(index) / 30)) else { continue }
      let center = Point(
        (Float(index) + 0.2 + 0.6 * Self.village.value(index + 900)) / 30,
        Self.shore - 0.006 - 0.018 * Self.village.value(index + 1800))
      let away = length(point - center)
      let flicker = 0.88 + 0.12 * sin(time * (3 + 4 * chance) + 30 * chance)
      let core = coverage(away - 0.0022, softness: 0.002)
      let halo = 0.00006 / (away * away + 0.00018)
      light += Color(1, 0.78, 0.42) * ((core + halo) * flicker)
    }
    return light
  }
}
