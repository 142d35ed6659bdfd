import Glibc
internal import SyntheticMedia

/// A few birds on their way home, beating their wings.
struct Birds {
  private static let flock: [(place: Point, size: Float, phase: Float)] = [
    (Point(0.92, 0.60), 0.022, 0.0), (Point(0.97, 0.578), 0.019, 1.1), (Point(1.015, 0.60), 0.018, 2.3),
    (Point(1.06, 0.565), 0.016, 3.4), (Point(0.985, 0.633), 0.017, 4.2),
  ]

  let time: Float

  /// The birds at a point, over the sky.
  func paint(_ point: Point, over sky: Color) -> Color {
    guard 0.5..<0.72 ~= point.y else { return sky }
    var color = sky
    for bird in Self.flock {
      let center = bird.place + Point(-0.062 * time, -0.010 * time + 0.004 * sin(2 * time + bird.phase))
      let offset = point - center
      guard abs(offset.x) < 1.2 * bird.size && abs(offset.y) < bird.size else { continue }
      // Gliding between strokes, as gulls do.
      let beat = sin(7.5 * time + bird.phase * 2) * (0.55 + 0.45 * sin(1.7 * time + bird.phase))
      let span = abs(offset.x) / bird.size
      let wing = (0.30 * beat + 0.12) * (span * (1.6 - 0.75 * span)) * bird.size
      let thickness = bird.size * 0.085 * (1.15 - span)
      let wings = max(abs(offset.y + wing) - thickness, abs(offset.x) - bird.size)
      let body = ellipse(offset, Point(-0.002, 0), Point(bird.size * 0.28, bird.size * 0.09))
      color = mix(color, Color(0.20, 0.14, 0.26), coverage(min(wings, body)) * 0.9)
    }
    return color
  }
}
