import AV
import Model
import Platform

/// Writes the playable clip of one camera: copied packets, or upright frames encoded at the times of the grid.
final class ClipOutput {
  private let plan: ClipPlan
  let reader: ClipReader
  private let container: ContainerWriter
  private let seconds: Double
  private let audio: (any AudioTrack)?
  private let level: SoundLevel
  private let encoding: Encoding?
  /// The number of the frame that was encoded last, from 1.
  private var shown = 0

  private struct Encoding {
    let canvas: UprightCanvas
    let video: VideoTrack
    let ticks: Int
  }

  init(_ plan: ClipPlan, clip: OpenClip, grid: TimeGrid, file: OpenFile) throws(RunFailure) {
    guard let scan = clip.scan else {
      throw .failed(MediaError(.invalidPlan, "a clip output needs an input whose duration is limited"))
    }
    self.plan = plan
    reader = clip.reader
    container = try ContainerWriter(plan.role, file: file)
    switch (plan.mode, plan.video) {
    case (.encode, .some(let video)):
      let ticks = grid.ticks(in: clip.reader.source.limits.used(of: scan.seconds))
      encoding = Encoding(
        canvas: try UprightCanvas(from: clip.layout, to: plan.size, isInPlace: clip.reader.allowsDrawingInPlace),
        video: try VideoTrack(video, size: plan.size, grid: grid, container: container), ticks: ticks)
      seconds = grid.seconds(ticks)
    case (.encode, .none):
      throw .failed(MediaError(.invalidPlan, "\(plan.role.rawValue) has no encoder settings"))
    case (.remux, _):
      guard let part = scan.copied else {
        throw .failed(MediaError(.invalidPlan, "\(plan.role.rawValue) cannot be cut without decoding"))
      }
      encoding = nil
      seconds = part.seconds
      reader.packetTaps.append(try CopiedVideo(of: reader, scan: scan, part: part, container: container))
    }
    level = SoundLevel(plan.audio, of: clip.loudness, isOverdriven: clip.isOverdriven)
    audio =
      if let audioPlan = plan.audio {
        try AudioTracks.track(
          audioPlan.mode, of: reader, gain: level.factor, from: reader.lead(in: 0..<(encoding?.ticks ?? 0), of: grid),
          until: seconds, containers: [container])
      } else { nil }
    if let audio { reader.packetTaps.append(audio) }
    try container.start()
  }

  private static let lastTicks = 2

  /// The number of ticks that it encodes; 0 if it copies.
  var ticks: Int { encoding?.ticks ?? 0 }

  /// Encodes the current frame of the reader if the clip has this tick: once, at the first tick that shows it.
  ///
  /// The last ticks have their frame in any case, so that the video ends with the sound by every count of its duration: a packet lasts a
  /// tick, whatever the encoder holds back, and the time of decoding of the last one is the time of the frame before. `DecodingTimes` has
  /// the first packets a tick before each other, so that all durations add up to the ticks.
  func encode(tick: Int) throws(RunFailure) {
    guard let encoding, (0..<encoding.ticks).contains(tick) else { return }
    guard reader.frames != shown || tick >= encoding.ticks - Self.lastTicks else { return }
    shown = reader.frames
    try encoding.canvas.withFrame(of: reader) { (frame) throws(RunFailure) in
      try encoding.video.encode(frame, at: tick)
    }
  }

  /// Completes the file, after the end of the input.
  func finish() throws(RunFailure) -> OutputFacts {
    try encoding?.video.finish()
    try audio?.finish()
    var facts = try container.finish(size: plan.size, seconds: seconds)
    facts.loudnessLufs = level.lufs
    return facts
  }
}
