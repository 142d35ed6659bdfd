import Glibc
internal import SyntheticMedia

/// Reeds and grass on the near shore, moved by the wind, dark with a warm edge towards the sun.
struct Reeds {
  private struct Row {
    let noise: Noise
    let spacing: Float
    let height: Float
    let width: Float
    let parallax: Float
    let color: Color
    let reach: Int
  }

  private static let rows = [
    Row(
      noise: Noise(seed: 51), spacing: 0.030, height: 0.30, width: 0.0040, parallax: 1.2,
      color: Color(0.16, 0.12, 0.25), reach: 4),
    Row(
      noise: Noise(seed: 52), spacing: 0.022, height: 0.24, width: 0.0050, parallax: 1.5,
      color: Color(0.10, 0.08, 0.18), reach: 5),
    Row(
      noise: Noise(seed: 53), spacing: 0.016, height: 0.17, width: 0.0060, parallax: 1.9,
      color: Color(0.05, 0.045, 0.11), reach: 6),
  ]
  private static let ground: Float = 1.80

  let time: Float
  let sway: Point

  /// Paints the reeds at a point over the background.
  func paint(_ point: Point, over behind: Color) -> Color {
    guard point.y > 1.30 else { return behind }
    var color = behind
    for row in Self.rows { color = paint(point + sway * (row.parallax - 1), row, over: color) }
    return color
  }

  private func paint(_ point: Point, _ row: Row, over behind: Color) -> Color {
    // The shore is lower where the sun is reflected.
    let rise = 0.55 + 0.75 * smoothstep(0.75, 0.05, point.x) + 0.35 * smoothstep(0.8, 1.0, point.x)
    let up = Self.ground - point.y
    guard up < row.height * rise * 1.3 else { return behind }
    var color = behind
    let cell = Int((point.x / row.spacing).rounded(.down))
    for index in (cell - row.reach)...(cell + row.reach) {
      let (chance, second) = (row.noise.value(index), row.noise.value(index + 7000))
      let height = row.height * rise * (0.45 + 0.75 * chance)
      let position = up / height
      guard position < 1 else { continue }
      let root = (Float(index) + second) * row.spacing
      let wind = sin(1.4 * time + root * 6) * 0.016 + sin(2.9 * time + 20 * chance) * 0.006
      let lean = (second - 0.5) * 0.10 + wind
      let center = root + lean * position * position
      let isCattail = chance > 0.84
      // A cattail has a brown head near the top; grass ends in a point.
      let head = isCattail ? 2.1 * smoothstep(0.74, 0.77, position) * smoothstep(0.93, 0.90, position) : 0
      let half = row.width * ((isCattail ? 0.42 : 1 - position) * 0.8 + 0.1 + head * 0.55)
      let offset = point.x - center
      let cover = coverage(abs(offset) - half)
      guard cover > 0 else { continue }
      let rim = smoothstep(0, half, offset) * smoothstep(0.15, 0.9, position)
      let glow = 1 / (1 + 9 * abs(point.x - DuskSky.sun.x))
      let tint = head > 0.2 ? row.color + Color(0.10, 0.035, 0.01) : row.color
      color = mix(color, tint + Color(0.75, 0.36, 0.16) * (rim * glow * (head > 0.2 ? 0.45 : 0.8)), cover)
    }
    return color
  }
}
