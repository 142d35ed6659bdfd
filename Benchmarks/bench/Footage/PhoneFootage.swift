import Glibc
internal import Kernels
internal import Model
internal import SyntheticMedia

/// The two synthetic clips of the benchmark, encoded as phones do and the same on every machine.
///
/// 1080x1920, 30 frames per second, 5 s, H.264 High without B-frames, a key frame each second, about 9 Mbit/s, AAC.
struct PhoneFootage {
  /// The version of the clips, part of their file names; increased when they change.
  private static let recipe = 2
  /// The size of each frame.
  static let size = Size(width: 1080, height: 1920)
  private static let frameRate = 30
  private static let seconds = 5

  /// The path of the front camera's clip.
  let front: String
  /// The path of the back camera's clip.
  let back: String

  /// Renders the clips into `folder`, unless they exist.
  init(folder: String, progress: @escaping (String) -> Void) async throws {
    front = "\(folder)/front-\(Self.recipe).mp4"
    back = "\(folder)/back-\(Self.recipe).mp4"
    if access(back, R_OK) != 0 {
      progress("rendering the clip of the back camera")
      let scene = PhoneScene(
        background: DeadLeaves.texture(width: 1500, height: 2400, count: 3000, seed: 1),
        foreground: DeadLeaves.texture(width: 520, height: 700, count: 300, seed: 3), phase: 0.3, pan: 2, swing: 380)
      try await Self.render(scene, into: back, progress: progress)
    }
    if access(front, R_OK) != 0 {
      progress("rendering the clip of the front camera")
      let scene = PhoneScene(
        background: DeadLeaves.texture(width: 1500, height: 2400, count: 800, seed: 2),
        foreground: DeadLeaves.texture(width: 900, height: 1200, count: 160, seed: 4), phase: 1.1, pan: 0.6, swing: 60)
      try await Self.render(scene, into: front, progress: progress)
    }
  }

  private init(front: String, back: String) {
    self.front = front
    self.back = back
  }

  /// Returns the same clips in 180x320 with ten frames a second, whose decoding costs little; makes them unless they
  /// exist.
  func reduced(in folder: String, by programs: Programs) throws -> PhoneFootage {
    func reduced(_ clip: String, _ name: String) throws -> String {
      let path = "\(folder)/\(name)-\(Self.recipe)-reduced.mp4"
      if access(path, R_OK) == 0 { return path }
      let video = ["-vf", "scale=180:320", "-r", "10", "-c:v", "libx264", "-preset", "fast", "-c:a", "copy"]
      let incomplete = path + ".part"
      try Command(
        path: programs.ffmpeg, arguments: FFmpegSettings.quiet + ["-i", clip] + video + ["-f", "mp4", incomplete],
        log: "\(path).log"
      ).run()
      try Self.complete(incomplete, as: path)
      return path
    }
    return PhoneFootage(front: try reduced(front, "front"), back: try reduced(back, "back"))
  }

  private static func complete(_ incomplete: String, as path: String) throws {
    guard rename(incomplete, path) == 0 else {
      throw BenchError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
  }

  private static func render(_ scene: PhoneScene, into path: String, progress: (String) -> Void) async throws {
    let settings = ClipSettings(
      width: size.width, height: size.height, frameRate: frameRate,
      videoOptions: [
        "preset": "fast", "b": "9000000", "maxrate": "10000000", "bufsize": "9000000", "g": "30", "bf": "0",
        "refs": "1", "level": "40", "x264-params": "scenecut=0",
      ])
    let audio = StereoAudio(seconds: Double(seconds)) { time in
      let value = 0.12 * sin(2 * .pi * 330 * time) * (0.75 + 0.25 * sin(2 * .pi * 3 * time))
      return (value, value)
    }
    let renderer = FrameRenderer(width: settings.width, height: settings.height, grain: 0)
    let buffer = ImageBuffer(width: settings.width, height: settings.height)
    // The file gets its name once it is complete.
    let incomplete = path + ".part"
    var writer = try ClipWriter(path: incomplete, settings: settings, audio: audio)
    let count = frameRate * seconds
    for frame in 0..<count {
      await renderer.render(scene.shot(at: Float(frame) / Float(frameRate)), frame: frame, into: buffer)
      try writer.write(buffer.imagePlanes.reading)
      progress("rendering \(path): \(100 * (frame + 1) / count) %")
    }
    try writer.finish()
    try complete(incomplete, as: path)
  }
}
