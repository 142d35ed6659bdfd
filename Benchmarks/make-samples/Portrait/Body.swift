import Glibc
internal import SyntheticMedia

/// Neck and shoulders in a knitted pullover, the arm that holds the phone, and the waving hand.
///
/// The origin of its coordinates is the pit of the neck.
struct Body {
  private static let wool = Noise(seed: 81)
  private static let pullover = Color(0.86, 0.56, 0.17)
  private static let skin = Color(0.80, 0.52, 0.40)

  let gesture: Gesture

  /// Paints neck, shoulders and the arm that holds the phone.
  func paintTorso(_ p: Point, _ paint: inout Paint) {
    guard p.y > -0.24 else { return }
    let neck = stroke(p, Point(0, -0.20), Point(0, 0.02), 0.072, 0.082)
    paint.fill(neck, mix(Color(0.45, 0.27, 0.29), Self.skin, smoothstep(-0.09, 0.10, p.x)))
    paint.fill(
      max(neck, ellipse(p, Point(0, -0.185), Point(0.14, 0.115))), Color(0.36, 0.19, 0.22), opacity: 0.6,
      softness: 0.05)
    let slope = stroke(p, Point(-0.165, 0.115), Point(0.165, 0.115), 0.070, 0.070)
    let chest = box(p, Point(0, 0.62), Point(0.300, 0.48), radius: 0.15)
    let arm = stroke(p, Point(0.225, 0.235), Point(0.56, 0.76), 0.095, 0.215)
    let torso = joined(joined(slope, chest, radius: 0.13), arm, radius: 0.05)
    paint.fill(torso, knit(p, along: p.y))
    let fold = stroke(p, Point(0.225, 0.34), Point(0.265, 0.60), 0.004, 0.018)
    paint.fill(max(torso, fold), Color(0.33, 0.16, 0.10), opacity: 0.45, softness: 0.03)
    // A wide collar of the same wool, with a shadow in its opening.
    let collar = ellipse(p, Point(0, 0.030), Point(0.132, 0.062))
    paint.fill(collar, Color(0.60, 0.35, 0.11))
    paint.fill(ellipse(p, Point(0, 0.012), Point(0.104, 0.044)), Color(0.33, 0.18, 0.12), softness: 0.004)
    paint.fill(
      max(neck, p.y - 0.048 + 5 * p.x * p.x), mix(Color(0.45, 0.27, 0.29), Self.skin, smoothstep(-0.09, 0.10, p.x)))
  }

  /// Paints the raised arm and its open hand; `p` is in the same coordinates.
  func paintHand(_ p: Point, _ paint: inout Paint) {
    let elbow = Point(-0.375, 0.62)
    guard p.x < -0.10 && p.y > -0.50 else { return }
    // The forearm rotates about the elbow, the hand further about the wrist.
    let q = rotated(p - elbow, by: 0.10 - gesture.wave * 0.30)
    let sleeve = stroke(q, Point(0.02, 0.10), Point(0.0, -0.30), 0.088, 0.062)
    let wrist = Point(-0.002, -0.36)
    let h = rotated(q - wrist, by: -gesture.wave * 0.75)
    hand(h, &paint)
    paint.fill(sleeve, knit(q, along: q.y))
    let cuff = box(q, Point(0, -0.298), Point(0.064, 0.024), radius: 0.018)
    paint.fill(cuff, knit(q, along: q.y) * 0.86)
  }

  private func hand(_ h: Point, _ paint: inout Paint) {
    let fingers: [(base: Point, tip: Point, radius: Float)] = [
      (Point(-0.046, -0.105), Point(-0.088, -0.188), 0.0165), (Point(-0.017, -0.118), Point(-0.032, -0.230), 0.0178),
      (Point(0.014, -0.118), Point(0.020, -0.236), 0.0178), (Point(0.043, -0.104), Point(0.068, -0.208), 0.0168),
    ]
    var shape = box(h, Point(0, -0.060), Point(0.060, 0.068), radius: 0.042)
    shape = joined(shape, stroke(h, Point(0, -0.01), Point(0, 0.08), 0.036, 0.040), radius: 0.02)
    shape = joined(shape, stroke(h, Point(0.040, -0.035), Point(0.108, -0.105), 0.023, 0.0165), radius: 0.022)
    for finger in fingers {
      shape = joined(shape, stroke(h, finger.base, finger.tip, finger.radius, finger.radius * 0.86), radius: 0.010)
    }
    let lit = smoothstep(-0.09, 0.10, h.x)
    let skin = mix(Color(0.62, 0.37, 0.34), Color(0.99, 0.71, 0.52), lit)
    let edge = mix(Color(0.40, 0.22, 0.25), Color(0.83, 0.47, 0.35), lit)
    paint.fill(shape, mix(edge, skin, smoothstep(0, 0.014, -shape)))
    // Two lines of the palm.
    for (start, end) in [(Point(-0.040, -0.078), Point(0.030, -0.090)), (Point(-0.038, -0.052), Point(0.026, -0.040))] {
      paint.fill(stroke(h, start, end, 0.0015, 0.0022), edge, opacity: 0.6, softness: 0.005)
    }
  }

  /// Returns the colour of the ribbed wool, lit from the right.
  private func knit(_ p: Point, along: Float) -> Color {
    let rib = 0.5 + 0.5 * sin(p.x * 230 + 0.8 * sin(along * 160))
    let fluff = Self.wool.fractal(p.x * 70, p.y * 70, octaves: 2)
    let facing = saturate(0.42 + 1.1 * p.x)
    let base = mix(Color(0.42, 0.235, 0.20), Self.pullover, smoothstep(-0.05, 0.85, facing))
    let lit = mix(base, Color(1.0, 0.75, 0.36), smoothstep(0.55, 1.2, facing))
    return lit * (0.86 + 0.09 * rib + 0.10 * fluff)
  }
}

/// The pose of the person at one time: head, eyes, mouth and hand.
struct Gesture {
  /// The tilt of the head to the side, in radians.
  let tilt: Float
  /// The offset of the head.
  let nod: Point
  /// 1 for open eyes, 0 for closed ones.
  let openness: Float
  /// The offset of the pupils.
  let gaze: Point
  /// From 0 for a slight smile to 1 for a laugh.
  let smile: Float
  /// The rise of the shoulders by breathing.
  let breath: Float
  /// The rotation of the waving hand, in radians.
  let wave: Float

  init(at time: Float) {
    tilt = 0.055 * sin(1.25 * time + 0.3) + 0.015 * sin(2.9 * time)
    nod = Point(0.010 * sin(1.25 * time + 0.9), 0.006 * sin(2.1 * time))
    breath = 0.004 * sin(1.8 * time)
    smile = 0.62 + 0.38 * smoothstep(0.8, 1.8, time) * (0.75 + 0.25 * sin(2.4 * time))
    wave = 0.30 * sin(5.2 * time) * (0.75 + 0.25 * sin(0.9 * time)) + 0.06
    let blinks: [Float] = [0.42, 2.95, 3.22, 4.55]
    openness = blinks.reduce(1) { open, blink in min(open, smoothstep(0.03, 0.10, abs(time - blink))) }
    // A glance at the scene behind the phone.
    let glance = smoothstep(1.9, 2.1, time) * smoothstep(2.9, 2.7, time)
    gaze = Point(0.006 * glance + 0.001 * sin(3.1 * time), 0.001 * sin(2.3 * time))
  }
}
