import Glibc
internal import SyntheticMedia

/// What the person does at one time: how the head is held, whether the eyes are open, where the hand waves.
struct Gesture {
  /// The head's tilt to its own side, in radians.
  let tilt: Float
  /// How far the head is moved from its place.
  let nod: Point
  /// 1 for open eyes, 0 for closed ones.
  let openness: Float
  /// How far the pupils look aside.
  let gaze: Point
  /// 0 to 1: from a quiet smile to a laugh.
  let smile: Float
  /// The rise of the shoulders with the breath.
  let breath: Float
  /// The waving hand's turn, in radians.
  let wave: Float

  init(at time: Float) {
    tilt = 0.055 * sin(1.25 * time + 0.3) + 0.015 * sin(2.9 * time)
    nod = Point(0.010 * sin(1.25 * time + 0.9), 0.006 * sin(2.1 * time))
    breath = 0.004 * sin(1.8 * time)
    smile = 0.62 + 0.38 * smoothstep(0.8, 1.8, time) * (0.75 + 0.25 * sin(2.4 * time))
    wave = 0.30 * sin(5.2 * time) * (0.75 + 0.25 * sin(0.9 * time)) + 0.06
    let blinks: [Float] = [0.42, 2.95, 3.22, 4.55]
    openness = blinks.reduce(1) { open, blink in min(open, smoothstep(0.03, 0.10, abs(time - blink))) }
    // A glance at the scene behind the phone, and back into the lens.
    let glance = smoothstep(1.9, 2.1, time) * smoothstep(2.9, 2.7, time)
    gaze = Point(0.006 * glance + 0.001 * sin(3.1 * time), 0.001 * sin(2.3 * time))
  }
}
