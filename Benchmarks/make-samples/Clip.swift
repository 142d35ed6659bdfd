internal import Kernels
internal import SyntheticMedia

/// One of the two clips of the moment: a scene with its sound, and how the phone stored it.
struct Clip<Filmed: Scene> {
  private static var frameRate: Int { 30 }
  private static var seconds: Int { 5 }

  /// The name of the file.
  let name: String
  /// What is filmed.
  let scene: Filmed
  /// Where its camera hears.
  let microphone: Microphone
  /// When its camera began, in seconds of the moment.
  let start: Float
  /// Quarter turns clockwise that a player must make.
  let quarterTurns: Int
  /// What the phone tells about itself.
  let tags: PhoneTags?

  /// Films and writes the clip; `progress` is told the share that is done.
  func write(into folder: String, progress: (Double) -> Void) async throws {
    let path = "\(folder)/\(name).mp4"
    let renderer = FrameRenderer(width: 1080, height: 1920, grain: 0.7)
    let settings = ClipSettings(
      width: renderer.width, height: renderer.height, frameRate: Self.frameRate, quarterTurns: quarterTurns,
      videoOptions: ["preset": "slow", "crf": "24", "x264-params": "bframes=0:keyint=30:threads=1"],
      soundBitRate: 96_000)
    let sound = microphone.record(Evening(), from: start, seconds: Float(Self.seconds))
    var writer = try ClipWriter(path: path, settings: settings, sound: sound)
    let picture = ImageBuffer(width: renderer.width, height: renderer.height)
    let count = Self.frameRate * Self.seconds
    for frame in 0..<count {
      let time = start + Float(frame) / Float(Self.frameRate)
      await renderer.render(scene.shot(at: time), frame: frame, into: picture)
      try writer.write(picture.picture.reading)
      progress(Double(frame + 1) / Double(count))
    }
    try writer.finish()
    try tags?.write(into: path)
  }
}
