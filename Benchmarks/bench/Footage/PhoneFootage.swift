import Glibc
internal import Kernels
internal import Model
internal import SyntheticMedia

/// The two clips that are measured with: what phones write, but made here, so that everyone measures the same.
///
/// 1080x1920, 30 pictures a second, 5 s, H.264 High without B-frames, a key picture each second, about 9 Mbit/s, AAC.
struct PhoneFootage {
  /// Changes when the recipe does, so that older files are not taken for it.
  private static let recipe = 2
  /// Of each picture.
  static let size = Size(width: 1080, height: 1920)
  private static let frameRate = 30
  private static let seconds = 5

  /// Where the clips lie once they are made.
  let front: String
  let back: String

  /// Takes the clips out of `folder`, or makes them there.
  init(folder: String, progress: @escaping (String) -> Void) async throws {
    front = "\(folder)/front-\(Self.recipe).mp4"
    back = "\(folder)/back-\(Self.recipe).mp4"
    if access(back, R_OK) != 0 {
      progress("painting what the back camera sees")
      let scene = PhoneScene(
        background: DeadLeaves.texture(width: 1500, height: 2400, count: 3000, seed: 1),
        foreground: DeadLeaves.texture(width: 520, height: 700, count: 300, seed: 3), phase: 0.3, pan: 2, swing: 380)
      try await Self.film(scene, into: back, progress: progress)
    }
    if access(front, R_OK) != 0 {
      progress("painting what the front camera sees")
      let scene = PhoneScene(
        background: DeadLeaves.texture(width: 1500, height: 2400, count: 800, seed: 2),
        foreground: DeadLeaves.texture(width: 900, height: 1200, count: 160, seed: 4), phase: 1.1, pan: 0.6, swing: 60)
      try await Self.film(scene, into: front, progress: progress)
    }
  }

  private static func film(_ scene: PhoneScene, into path: String, progress: (String) -> Void) async throws {
    let settings = ClipSettings(
      width: size.width, height: size.height, frameRate: frameRate,
      videoOptions: [
        "preset": "fast", "b": "9000000", "maxrate": "10000000", "bufsize": "9000000", "g": "30", "bf": "0",
        "refs": "1", "level": "40", "x264-params": "scenecut=0",
      ])
    let sound = StereoAudio(seconds: Double(seconds)) { time in
      let value = 0.12 * sin(2 * .pi * 330 * time) * (0.75 + 0.25 * sin(2 * .pi * 3 * time))
      return (value, value)
    }
    let renderer = FrameRenderer(width: settings.width, height: settings.height, grain: 0)
    let picture = ImageBuffer(width: settings.width, height: settings.height)
    // Whoever finds a file under its name finds a whole one.
    let unfinished = path + ".part"
    var writer = try ClipWriter(path: unfinished, settings: settings, sound: sound)
    let count = frameRate * seconds
    for frame in 0..<count {
      await renderer.render(scene.shot(at: Float(frame) / Float(frameRate)), frame: frame, into: picture)
      try writer.write(picture.picture.reading)
      progress("filming \(path): \(100 * (frame + 1) / count) %")
    }
    try writer.finish()
    guard rename(unfinished, path) == 0 else {
      throw BenchError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
  }
}
