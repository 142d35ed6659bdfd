import Glibc
internal import SyntheticMedia

/// A plastered wall in the evening sun: the light of a window, shadows of leaves, and a string of lamps.
struct LitWall {
  private static let plaster = Noise(seed: 61)
  private static let leaves = Noise(seed: 62)
  private static let lamps: [Point] = (0..<9).map { index in
    let x = -0.06 + 0.14 * Float(index)
    return Point(x, cable(x) + 0.030)
  }

  let time: Float

  /// Returns the colour of the wall at a point.
  func color(_ point: Point) -> Color {
    let grain = Self.plaster.fractal(point.x * 26, point.y * 26, octaves: 4) - 0.5
    let patches = Self.plaster.fractal(point.x * 2.3 + 9, point.y * 2.3, octaves: 3) - 0.5
    let fall = saturate(0.15 + 0.62 * point.x + 0.16 * (1 - point.y))
    var color = mix(Color(0.235, 0.265, 0.40), Color(0.62, 0.42, 0.43), fall)
    color += Color(0.05, 0.035, 0.03) * patches + Color(0.045, 0.040, 0.04) * grain
    color += Color(0.44, 0.25, 0.08) * (windowLight(point) * (0.92 + 0.35 * grain))
    return lampLight(point, over: color)
  }

  /// Returns the slanted light of a window with four panes, with the shadows of moving leaves.
  private func windowLight(_ point: Point) -> Float {
    let slanted = Point(point.x + 0.20 * (point.y - 0.7), point.y - 0.10 * point.x)
    let frame = box(slanted, Point(0.60, 0.60), Point(0.37, 0.40), radius: 0.01)
    let bars = min(abs(slanted.x - 0.60), abs(slanted.y - 0.56)) - 0.013
    let panes = coverage(max(frame, -bars), softness: 0.022)
    guard panes > 0 else { return 0 }
    let wind = Point(0.030 * sin(0.9 * time) + 0.012 * sin(2.3 * time), 0.014 * sin(1.3 * time + 1))
    let position = (slanted + wind) * Point(7.5, 9)
    let foliage = Self.leaves.fractal(position.x + 0.35 * sin(position.y), position.y, octaves: 3)
    let sparse = 0.16 * smoothstep(0.25, 0.95, slanted.x)
    return panes * (1 - 0.72 * smoothstep(0.47 + sparse, 0.56 + sparse, foliage))
  }

  /// Returns the height of the cable, which hangs between nails.
  private static func cable(_ x: Float) -> Float {
    let phase = (x + 0.18) / 0.72
    let hang = phase - phase.rounded(.down)
    return 0.165 + 0.17 * 4 * hang * (1 - hang) * 0.62
  }

  private func lampLight(_ point: Point, over wall: Color) -> Color {
    guard point.y < 0.75 else { return wall }
    var color = wall
    let cable = abs(point.y - Self.cable(point.x)) - 0.0022
    color = mix(color, Color(0.11, 0.10, 0.17), coverage(cable, softness: 0.003) * 0.9)
    for (index, lamp) in Self.lamps.enumerated() {
      let hanging = lamp + Point(0.0045 * sin(1.6 * time + 1.7 * Float(index)), 0)
      let offset = point - hanging
      let squared = (offset * offset).sum()
      guard squared < 0.09 else { continue }
      let glimmer = 0.92 + 0.08 * sin(2.1 * time + 2.3 * Float(index))
      let socket = box(offset, Point(0, -0.021), Point(0.0065, 0.011), radius: 0.003)
      color = mix(color, Color(0.13, 0.11, 0.17), coverage(socket))
      let bulb = ellipse(offset, Point(0, 0.004), Point(0.0165, 0.0195))
      color += Color(1.0, 0.62, 0.26) * (glimmer * (0.0021 / (squared + 0.0028) - 0.02) * 0.62)
      let core = mix(Color(1, 0.80, 0.42), Color(1, 0.97, 0.86), saturate(-bulb / 0.014))
      color = mix(color, core, coverage(bulb, softness: 0.004) * glimmer)
    }
    return color
  }
}
