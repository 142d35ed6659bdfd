import Glibc
internal import SyntheticMedia

/// A small boat with a lantern at its mast, rocking on the lake.
struct SailingBoat {
  private static let home = Point(0.345, 1.072)
  private static let lantern = Color(1, 0.82, 0.48)

  let time: Float

  private var center: Point { Self.home + Point(0.012 * time, 0.003 * sin(1.9 * time)) }
  private var heel: Float { 0.035 * sin(1.3 * time + 0.5) }

  /// The boat and its mirror image, over water that is already painted.
  func paint(_ point: Point, over water: Color) -> Color {
    let center = center
    guard abs(point.x - center.x) < 0.22 && abs(point.y - center.y) < 0.30 else { return water }
    let above = turned(point - center, by: heel)
    // Below its waterline the boat is seen upside down, blurred by the waves.
    let wobble = 0.0035 * sin(point.y * 300 + time * 5) * saturate((point.y - center.y) * 18)
    let below = turned(Point(point.x - center.x + wobble, -(point.y - center.y) * 1.15), by: -heel)
    var color = water
    if point.y > center.y { color = mix(color, body(below) ?? color, 0.5 * cover(below)) }
    color = mix(color, body(above) ?? color, cover(above))
    let glow = 0.00035 / (squared(above - Point(0.004, -0.118)) + 0.0006)
    let mirroredGlow = point.y > center.y ? 0.00012 / (squared(below - Point(0.004, -0.118)) + 0.0006) : 0
    return color + Self.lantern * (glow + mirroredGlow)
  }

  private func squared(_ point: Point) -> Float { (point * point).sum() }

  private func sail(_ p: Point) -> Float {
    // A triangle: behind the mast, under the line from its head, above the boom.
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
