import AV
import Model
import Platform

/// One camera's playable clip while it is made: copied packets, or upright pictures encoded on the grid.
final class ClipOutput {
  private let plan: ClipPlan
  let reader: ClipReader
  private let output: OutputFile
  private let seconds: Double
  private let sound: (any AudioTrack)?
  private let encoding: Encoding?

  private struct Encoding {
    let canvas: UprightCanvas
    let video: VideoTrack
    let slots: Int
  }

  init(_ plan: ClipPlan, clip: OpenClip, grid: TimeGrid, file: OpenFile) throws(Stop) {
    guard let scan = clip.scan else {
      throw .failed(MediaError(.invalidPlan, "a clip is only made of inputs whose length is limited"))
    }
    self.plan = plan
    reader = clip.reader
    output = try OutputFile(plan.role, file: file)
    switch (plan.mode, plan.video) {
    case (.encode, .some(let video)):
      let slots = grid.slots(in: scan.seconds)
      encoding = Encoding(
        canvas: try UprightCanvas(from: clip.layout, to: plan.size, inPlace: clip.reader.lendsPictures),
        video: try VideoTrack(video, size: plan.size, grid: grid, output: output), slots: slots)
      seconds = grid.seconds(slots)
    case (.encode, .none):
      throw .failed(MediaError(.invalidPlan, "\(plan.role.rawValue) is to be encoded, but nothing says how"))
    case (.remux, _):
      encoding = nil
      seconds = scan.seconds
      reader.packetTaps.append(try CopiedVideo(of: reader, scan: scan, output: output))
    }
    sound =
      if let audio = plan.audio {
        try AudioTracks.track(audio.mode, of: reader, until: seconds, output: output)
      } else { nil }
    if let sound { reader.packetTaps.append(sound) }
    try output.start()
  }

  /// How many pictures of the grid it encodes; 0 when it copies.
  var slots: Int { encoding?.slots ?? 0 }

  /// Encodes the reader's current picture, if this slot is the clip's.
  func encode(slot: Int) throws(Stop) {
    guard let encoding, (0..<encoding.slots).contains(slot) else { return }
    try encoding.canvas.lend(reader) { (frame) throws(Stop) in try encoding.video.encode(frame) }
  }

  /// Completes the file; the input is at its end.
  func finish() throws(Stop) -> OutputFacts {
    try encoding?.video.finish()
    try sound?.finish()
    return try output.finish(size: plan.size, seconds: seconds)
  }
}
