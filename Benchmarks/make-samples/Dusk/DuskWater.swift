import Glibc
internal import SyntheticMedia

/// A calm lake that reflects sky and hills, with waves that grow towards the camera.
struct DuskWater {
  private static let waves = Noise(seed: 41)

  let time: Float
  let sky: DuskSky
  let hills: DuskHills

  /// Returns the colour of the water at a point below the shore.
  func color(_ point: Point) -> Color {
    let depth = point.y - DuskHills.shore
    // The perspective of a flat surface: 1 / depth is the distance.
    let distance = 1 / (depth + 0.018)
    let position = Point((point.x - 0.5) * distance * 0.9, distance * 3.1)
    let swell = Self.waves.fractal(position.x * 0.9 + time * 0.35, position.y + time * 0.9, octaves: 2) - 0.5
    let ripple = Self.waves.fractal(position.x * 3.1 - time * 0.5, position.y * 2.7 + time * 1.6, octaves: 3) - 0.5
    // Small waves, which are visible near the camera only.
    let detail = Self.waves.fractal(position.x * 13 + time * 0.7, position.y * 11 + time * 2.4, octaves: 3) - 0.5
    let slope = swell * 0.5 + ripple * 0.55 + detail * 0.75 * smoothstep(0.08, 0.55, depth)

    let mirrored = Point(
      point.x + ripple * 0.03 * saturate(depth * 6), DuskHills.shore - depth * 0.82 + slope * (0.02 + 0.34 * depth))
    let seen = Point(mirrored.x, min(mirrored.y, DuskHills.shore - 0.001))
    var color = hills.paint(seen, over: sky.clear(seen), withLights: false)
    // Nearer water is seen at a steeper angle and reflects less.
    let dark = mix(Color(0.20, 0.17, 0.34), Color(0.06, 0.08, 0.20), smoothstep(0.1, 0.7, depth))
    color = mix(color, dark, 0.22 + 0.50 * smoothstep(0, 0.75, depth))
    color += Color(0.10, 0.06, 0.05) * max(0, slope) * 2
    color += path(point, depth, slope) + villageLights(point, depth, ripple)
    return color
  }

  /// Returns the reflection of the sun, with glints on waves that face it.
  private func path(_ point: Point, _ depth: Float, _ slope: Float) -> Color {
    let width = 0.030 + 0.16 * depth
    let across = (point.x - DuskSky.sun.x + slope * 0.05) / width
    let inside = exp(-across * across)
    let glint = smoothstep(0.02, 0.26, slope + 0.10)
    return Color(1.0, 0.66, 0.34) * (inside * (0.16 + 0.95 * glint) * (1 - 0.62 * smoothstep(0.05, 0.75, depth)))
  }

  /// Returns the reflections of the village's lights, columns on calm water.
  private func villageLights(_ point: Point, _ depth: Float, _ ripple: Float) -> Color {
    guard depth < 0.16 else { return .zero }
    let column = hills.lights(Point(point.x + ripple * 0.02, DuskHills.shore - 0.013))
    return column * (0.5 * (1 - depth / 0.16) * saturate(0.75 + 2.2 * ripple))
  }
}

/// A small boat with a lantern at its mast, which rocks on the lake.
struct SailingBoat {
  private static let home = Point(0.345, 1.072)
  private static let lantern = Color(1, 0.82, 0.48)

  let time: Float

  private var center: Point { Self.home + Point(0.012 * time, 0.003 * sin(1.9 * time)) }
  private var heel: Float { 0.035 * sin(1.3 * time + 0.5) }

  /// Paints the boat and its reflection over the water.
  func paint(_ point: Point, over water: Color) -> Color {
    let center = center
    guard abs(point.x - center.x) < 0.22 && abs(point.y - center.y) < 0.30 else { return water }
    let above = rotated(point - center, by: heel)
    // The reflection is upside down and distorted by the waves.
    let wobble = 0.0035 * sin(point.y * 300 + time * 5) * saturate((point.y - center.y) * 18)
    let below = rotated(Point(point.x - center.x + wobble, -(point.y - center.y) * 1.15), by: -heel)
    var color = water
    if point.y > center.y { color = mix(color, body(below) ?? color, 0.5 * cover(below)) }
    color = mix(color, body(above) ?? color, cover(above))
    let glow = 0.00035 / (squared(above - Point(0.004, -0.118)) + 0.0006)
    let mirroredGlow = point.y > center.y ? 0.00012 / (squared(below - Point(0.004, -0.118)) + 0.0006) : 0
    return color + Self.lantern * (glow + mirroredGlow)
  }

  private func squared(_ point: Point) -> Float { (point * point).sum() }

  private func sail(_ p: Point) -> Float {
    // A triangle behind the mast and above the boom.
    let bulge = 0.010 * sin(saturate(-p.y / 0.15) * 3.1)
    let leech = (p.x - 0.070 - bulge + (-p.y - 0.018) * 0.50) * 0.89
    return max(max(0.006 - p.x, leech), max(p.y + 0.020, -p.y - 0.150))
  }

  private func jib(_ p: Point) -> Float {
    let luff = (-p.x - 0.062 + (-p.y - 0.018) * 0.46) * 0.9
    return max(max(p.x + 0.004, luff), max(p.y + 0.022, -p.y - 0.130))
  }

  private func hull(_ p: Point) -> Float {
    let top = -0.012 - 0.9 * p.x * p.x
    let bottom = ellipse(p, Point(0.004, -0.014), Point(0.082, 0.024))
    return max(bottom, top - p.y)
  }

  private func mast(_ p: Point) -> Float { stroke(p, Point(0, -0.01), Point(0.002, -0.165), 0.0015, 0.0009) }

  private func cover(_ p: Point) -> Float {
    coverage(min(min(sail(p), jib(p)), min(hull(p), mast(p))))
  }

  private func body(_ p: Point) -> Color? {
    if hull(p) < edgeWidth {
      return mix(Color(0.14, 0.09, 0.15), Color(0.42, 0.22, 0.18), smoothstep(-0.02, 0.08, p.x))
    }
    if sail(p) < edgeWidth || jib(p) < edgeWidth {
      let light = smoothstep(-0.05, 0.08, p.x) * 0.6 + smoothstep(0, -0.15, p.y) * 0.4
      return mix(Color(0.62, 0.40, 0.42), Color(1.0, 0.82, 0.62), light)
    }
    return mast(p) < edgeWidth ? Color(0.12, 0.08, 0.12) : nil
  }
}
