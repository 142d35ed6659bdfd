import Glibc
internal import SyntheticMedia

/// A head with round glasses, lit by the evening sun from the right.
///
/// The origin of its coordinates is the middle of the face, the unit is the width of the frame.
struct Head {
  private static let skin = Color(0.80, 0.52, 0.40)
  private static let sunlit = Color(1.0, 0.74, 0.52)
  private static let hair = Color(0.17, 0.095, 0.105)
  private static let frame = Color(0.13, 0.10, 0.14)
  private static let strands = Noise(seed: 71)

  let gesture: Gesture

  /// Paints the hair behind neck and shoulders.
  func paintBack(_ p: Point, _ paint: inout Paint) {
    guard abs(p.x) < 0.34 && -0.40..<0.36 ~= p.y else { return }
    let crown = ellipse(p, Point(0, -0.055), Point(0.235, 0.255))
    let fall = box(p, Point(0.002 * sin(p.y * 30), 0.10), Point(0.212, 0.185), radius: 0.10)
    let outline = joined(crown, fall, radius: 0.06) + 0.006 * sin(p.x * 42 + p.y * 9) * smoothstep(0, 0.25, p.y)
    paint.fill(outline, hairColor(p) * 0.82)
  }

  /// Paints the face and the hair in front of it.
  func paintFront(_ p: Point, _ paint: inout Paint) {
    guard abs(p.x) < 0.30 && -0.36..<0.30 ~= p.y else { return }
    ears(p, &paint)
    let face = outline(p)
    paint.fill(face, skinColor(p))
    if face < edgeWidth {
      cheeks(p, &paint)
      mouth(p, &paint)
      nose(p, &paint)
      for side in [Float(-1), 1] { eye(p, side, &paint) }
    }
    fringe(p, &paint)
    glasses(p, &paint)
  }

  private func outline(_ p: Point) -> Float {
    let skull = ellipse(p, Point(0, -0.045), Point(0.172, 0.19))
    let jaw = ellipse(p, Point(0, 0.065), Point(0.128, 0.152))
    return joined(skull, jaw, radius: 0.06)
  }

  private func skinColor(_ p: Point) -> Color {
    // Shaded like a sphere: lit towards the sun, and by the sky on the other side.
    let round = Point(p.x / 0.175, p.y / 0.235)
    let facing = saturate(0.48 + 0.62 * round.x - 0.20 * round.y - 0.12 * (round * round).sum())
    let base = mix(Color(0.545, 0.335, 0.335), Self.skin, smoothstep(0.05, 0.55, facing))
    let lit = mix(base, Self.sunlit, smoothstep(0.50, 1.0, facing))
    let chin = smoothstep(0.10, 0.24, p.y) * 0.22
    return lit * (1 - chin) + Color(0.10, 0.05, 0.02) * smoothstep(0.85, 1.1, round.x)
  }

  private func hairColor(_ p: Point) -> Color {
    let strand = Self.strands.fractal(p.x * 34 + 4 * p.y, p.y * 5, octaves: 3)
    let rim = smoothstep(0.10, 0.24, p.x) * smoothstep(0.28, -0.1, p.y)
    let sheen = smoothstep(0.06, 0, abs(length(p - Point(-0.02, 0.06)) - 0.235)) * smoothstep(-0.02, -0.16, p.y)
    return Self.hair + Color(0.16, 0.09, 0.07) * (strand - 0.42)
      + Color(0.62, 0.30, 0.13) * (rim * (0.35 + 0.75 * strand)) + Color(0.20, 0.11, 0.10) * (sheen * strand)
  }

  private func ears(_ p: Point, _ paint: inout Paint) {
    for side in [Float(-1), 1] {
      let ear = ellipse(p, Point(0.172 * side, 0.008), Point(0.026, 0.046))
      paint.fill(ear, side > 0 ? Color(0.98, 0.62, 0.44) : Color(0.50, 0.30, 0.31))
      let earring = circle(p, Point(0.176 * side, 0.064), 0.0085)
      paint.fill(earring, Color(0.98, 0.83, 0.46))
    }
  }

  private func cheeks(_ p: Point, _ paint: inout Paint) {
    for side in [Float(-1), 1] {
      let cheek = ellipse(p, Point(0.098 * side, 0.058), Point(0.046, 0.032))
      paint.fill(cheek, Color(0.93, 0.40, 0.34), opacity: 0.34, softness: 0.05)
    }
  }

  private func nose(_ p: Point, _ paint: inout Paint) {
    let bridge = stroke(p, Point(-0.006, -0.020), Point(-0.016, 0.036), 0.003, 0.007)
    paint.fill(bridge, Color(0.52, 0.29, 0.27), opacity: 0.34, softness: 0.016)
    let tip = ellipse(p, Point(0.002, 0.043), Point(0.023, 0.016))
    paint.fill(tip, Color(1.0, 0.72, 0.54), opacity: 0.5, softness: 0.016)
    let under = ellipse(p, Point(0, 0.059), Point(0.016, 0.0045))
    paint.fill(under, Color(0.47, 0.23, 0.23), opacity: 0.55, softness: 0.007)
  }

  private func mouth(_ p: Point, _ paint: inout Paint) {
    let smile = gesture.smile
    let width = 0.056 + 0.012 * smile
    let q = Point(p.x / width, p.y - 0.098)
    let corner = 1 - q.x * q.x
    guard corner > -0.2 else { return }
    let upper = q.y - 0.006 * corner * (1 - 0.5 * smile)
    let lower = q.y - (0.012 + 0.030 * smile) * corner
    let open = max(max(-upper, lower), abs(p.x) - width)
    let lips = max(max(-upper - 0.007, lower - 0.009), abs(p.x) - width - 0.003)
    paint.fill(lips, Color(0.76, 0.29, 0.29), opacity: 0.92, softness: 0.004)
    paint.fill(open, Color(0.30, 0.07, 0.10))
    paint.fill(max(open, upper - 0.0125 * corner), Color(1.0, 0.95, 0.89))
    let tongue = ellipse(p, Point(0, 0.098 + 0.014 + 0.032 * smile), Point(0.028, 0.012))
    paint.fill(max(open + 0.0015, tongue), Color(0.86, 0.38, 0.38), softness: 0.004)
  }

  private func eye(_ p: Point, _ side: Float, _ paint: inout Paint) {
    let center = Point(0.072 * side, -0.024)
    let offset = p - center
    // Closed lids meet in a line that sags in the middle.
    let open = 0.0195 * gesture.openness
    let sag = 0.007 * (1 - gesture.openness) * (1 - offset.x * offset.x / 0.0009)
    let white = ellipse(Point(offset.x, offset.y - sag), .zero, Point(0.0325, max(open, 0.0012)))
    paint.fill(white, Color(0.985, 0.94, 0.90))
    let iris = offset - gesture.gaze
    paint.fill(max(white, length(iris - Point(0, -0.002)) - 0.0205), Color(0.33, 0.17, 0.10))
    paint.fill(max(white, length(iris) - 0.0115), Color(0.06, 0.03, 0.05))
    paint.fill(max(white, circle(iris, Point(0.007, -0.008), 0.0055)), Color(1, 0.98, 0.92))
    let lash = max(abs(white) - 0.0026, offset.y - sag - 0.003 * gesture.openness)
    paint.fill(gesture.openness < 0.1 ? abs(offset.y - sag) + (abs(offset.x) > 0.03 ? 1 : 0) - 0.003 : lash, Self.hair)
    let lift = 0.004 * gesture.smile
    let arch = offset.y + 0.066 + lift - 9 * offset.x * offset.x - 0.12 * offset.x * side
    paint.fill(max(abs(arch) - 0.0047, abs(offset.x) - 0.034), Self.hair, opacity: 0.92, softness: 0.004)
  }

  private func fringe(_ p: Point, _ paint: inout Paint) {
    let skull = ellipse(p, Point(0, -0.055), Point(0.205, 0.228))
    // The parting is a little left of the middle.
    let parting = p.x + 0.045
    let line =
      -0.190 + (parting > 0 ? 0.20 + 1.5 * parting : 0.35 - 1.9 * parting) * abs(parting)
      + 0.0025 * sin(p.x * 61 + 8 * p.y)
    let temples = smoothstep(0.148, 0.178, abs(p.x)) * smoothstep(0.11, 0.02, p.y)
    let strands = max(skull, p.y - line)
    let side = max(skull, 0.160 - abs(p.x) + (1 - temples) * 0.05)
    let shadow = max(outline(p), p.y - line - 0.022)
    paint.fill(shadow, Color(0.36, 0.19, 0.20), opacity: 0.38, softness: 0.026)
    paint.fill(min(strands, side), hairColor(p), softness: 0.003)
  }

  private func glasses(_ p: Point, _ paint: inout Paint) {
    for side in [Float(-1), 1] {
      let offset = p - Point(0.073 * side, -0.020)
      let lens = length(offset * Point(1, 1.04)) - 0.0565
      let streak = abs(offset.x + offset.y * 0.75 + 0.012) - 0.010
      paint.fill(max(lens, streak), Color(1, 0.93, 0.84), opacity: 0.13, softness: 0.006)
      paint.fill(abs(lens) - 0.0036, side > 0 ? Self.frame + Color(0.16, 0.08, 0.03) : Self.frame)
      let temple = stroke(p, Point(0.129 * side, -0.030), Point(0.176 * side, -0.014), 0.0032, 0.0032)
      paint.fill(temple, Self.frame)
    }
    let bridge = abs(p.y + 0.030 + 7 * (0.0003 - p.x * p.x)) - 0.0032
    paint.fill(max(bridge, abs(p.x) - 0.0185), Self.frame)
  }
}
