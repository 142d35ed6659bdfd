import Glibc
internal import SyntheticMedia

/// A calm lake that mirrors sky and hills, broken by waves that grow towards the camera.
struct DuskWater {
  private static let waves = Noise(seed: 41)

  let time: Float
  let sky: DuskSky
  let hills: DuskHills

  /// The water at a point below the shore.
  func color(_ point: Point) -> Color {
    let depth = point.y - DuskHills.shore
    // What lies flat is seen ever more from the side towards the shore: 1 / depth is the distance.
    let distance = 1 / (depth + 0.018)
    let place = Point((point.x - 0.5) * distance * 0.9, distance * 3.1)
    let swell = Self.waves.fractal(place.x * 0.9 + time * 0.35, place.y + time * 0.9, octaves: 2) - 0.5
    let ripple = Self.waves.fractal(place.x * 3.1 - time * 0.5, place.y * 2.7 + time * 1.6, octaves: 3) - 0.5
    // Seen from near, the small waves show that further away are finer than a pixel.
    let detail = Self.waves.fractal(place.x * 13 + time * 0.7, place.y * 11 + time * 2.4, octaves: 3) - 0.5
    let slope = swell * 0.5 + ripple * 0.55 + detail * 0.75 * smoothstep(0.08, 0.55, depth)

    let mirrored = Point(
      point.x + ripple * 0.03 * saturate(depth * 6), DuskHills.shore - depth * 0.82 + slope * (0.02 + 0.34 * depth))
    let seen = Point(mirrored.x, min(mirrored.y, DuskHills.shore - 0.001))
    var color = hills.paint(seen, over: sky.clear(seen), withLights: false)
    // The nearer, the steeper the look into the dark of the water.
    let dark = mix(Color(0.20, 0.17, 0.34), Color(0.06, 0.08, 0.20), smoothstep(0.1, 0.7, depth))
    color = mix(color, dark, 0.22 + 0.50 * smoothstep(0, 0.75, depth))
    color += Color(0.10, 0.06, 0.05) * max(0, slope) * 2
    color += path(point, depth, slope) + villageLights(point, depth, ripple)
    return color
  }

  /// The sun's path: glints where a wave happens to face it.
  private func path(_ point: Point, _ depth: Float, _ slope: Float) -> Color {
    let width = 0.030 + 0.16 * depth
    let across = (point.x - DuskSky.sun.x + slope * 0.05) / width
    let inside = exp(-across * across)
    let glint = smoothstep(0.02, 0.26, slope + 0.10)
    return Color(1.0, 0.66, 0.34) * (inside * (0.16 + 0.95 * glint) * (1 - 0.62 * smoothstep(0.05, 0.75, depth)))
  }

  /// Lights draw columns on the water, as long as it is calm.
  private func villageLights(_ point: Point, _ depth: Float, _ ripple: Float) -> Color {
    guard depth < 0.16 else { return .zero }
    let column = hills.lights(Point(point.x + ripple * 0.02, DuskHills.shore - 0.013))
    return column * (0.5 * (1 - depth / 0.16) * saturate(0.75 + 2.2 * ripple))
  }
}
