internal import SyntheticMedia

/// The scene of the front camera: a person who waves in front of a lit wall.
struct PortraitScene: Scene {
  private let camera = HandheldCamera(strength: 0.013, phase: 2.6)

  func shot(at time: Float) -> PortraitShot {
    PortraitShot(time: time, pose: camera.pose(at: time))
  }
}

/// One frame of the scene.
struct PortraitShot: Shot {
  private static let faceCenter = Point(0.50, 0.80)
  private static let neckPit = Point(0.50, 1.065)

  private let angle: Float
  private let sway: Point
  private let gesture: Gesture
  private let wall: LitWall
  private let head: Head
  private let body: Body

  init(time: Float, pose: (x: Float, y: Float, angle: Float)) {
    angle = pose.angle
    sway = Point(pose.x, pose.y)
    gesture = Gesture(at: time)
    wall = LitWall(time: time)
    head = Head(gesture: gesture)
    body = Body(gesture: gesture)
  }

  func color(_ x: Float, _ y: Float) -> Color {
    let middle = Point(0.5, 0.889)
    let screen = Point(x, y) - middle
    let point = middle + rotated(screen, by: angle)
    // The phone is held at arm's length, so the person moves less in the frame than the wall.
    let person = point + sway * 0.35
    let onFace = rotated(person - Self.faceCenter - gesture.nod, by: gesture.tilt)
    let onBody = person - Self.neckPit - Point(0, gesture.breath)

    var paint = Paint(over: wall.color(point + sway))
    let shadow = length((onFace - Point(-0.07, 0.06)) * Point(1, 0.8)) - 0.20
    paint.shade(0.42 * coverage(shadow, softness: 0.20))
    head.paintBack(onFace, &paint)
    body.paintTorso(onBody, &paint)
    head.paintFront(onFace, &paint)
    body.paintHand(onBody, &paint)
    paint.light(Color(0.10, 0.045, 0.0), smoothstep(0.55, 1.1, x) * 0.7)
    let vignette = 1 - 0.30 * (screen * screen).sum()
    return paint.color * vignette
  }
}
