internal import SyntheticMedia

/// The scene of the back camera: evening over a lake, with hills, a boat and reeds.
struct DuskScene: Scene {
  private let camera = HandheldCamera(strength: 0.010, phase: 0.4)

  func shot(at time: Float) -> DuskShot {
    DuskShot(time: time, pose: camera.pose(at: time))
  }
}

/// One frame of the scene.
struct DuskShot: Shot {
  private let angle: Float
  private let sway: Point
  private let sky: DuskSky
  private let birds: Birds
  private let hills: DuskHills
  private let water: DuskWater
  private let boat: SailingBoat
  private let reeds: Reeds

  init(time: Float, pose: (x: Float, y: Float, angle: Float)) {
    angle = pose.angle
    sway = Point(pose.x, pose.y)
    sky = DuskSky(time: time)
    birds = Birds(time: time)
    hills = DuskHills(time: time, sway: sway)
    water = DuskWater(time: time, sky: sky, hills: hills)
    boat = SailingBoat(time: time)
    reeds = Reeds(time: time, sway: sway)
  }

  func color(_ x: Float, _ y: Float) -> Color {
    let middle = Point(0.5, 0.889)
    let screen = Point(x, y) - middle
    let point = middle + rotated(screen, by: angle) + sway
    var color: Color
    if point.y < DuskHills.shore {
      color = birds.paint(point, over: hills.paint(point, over: sky.color(point)))
    } else {
      color = water.color(point)
    }
    color = boat.paint(point, over: color)
    color = reeds.paint(point, over: color)
    let vignette = 1 - 0.28 * (screen * screen).sum()
    return color * vignette
  }
}
