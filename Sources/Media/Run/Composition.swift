import AV
import Model
import Platform

/// The composed video while it is made: the compositor, the encoder, the sound and the pictures taken from it.
final class Composition {
  /// How many pictures it has.
  let slots: Int
  let grid: TimeGrid
  private let plan: CompositionPlan
  /// How many slots of each input lie before the composed video begins.
  let shifts: [InputName: Int]
  private let readers: [InputName: ClipReader]
  private let compositor: Compositor
  private let output: OutputFile
  private let video: VideoTrack
  private let sound: (any AudioTrack)?
  private let stills: [StillWriter]
  private let preview: PreviewWriter?

  /// - Parameters:
  ///   - seconds: the common span of both inputs.
  ///   - shifts: how many slots of an input lie before that span.
  ///   - stills, preview: what is taken from composed frames.
  init(
    _ plan: CompositionPlan, seconds: Double, shifts: [InputName: Int], clips: [InputName: OpenClip], file: OpenFile,
    sound: ClipReader?,
    stills: [StillWriter], preview: PreviewWriter?
  ) throws(Stop) {
    grid = TimeGrid(rate: plan.canvas.framesPerSecond)
    slots = min(grid.slots(in: seconds), grid.whole(in: plan.seconds.longest))
    self.plan = plan
    self.shifts = shifts
    readers = clips.mapValues(\.reader)
    self.stills = stills
    self.preview = preview
    compositor = try Compositor(
      plan, layouts: clips.mapValues(\.layout), inPlace: clips.values.allSatisfy { $0.reader.lendsPictures })
    output = try OutputFile(plan.role, file: file)
    video = try VideoTrack(plan.video, size: plan.canvas.size, grid: grid, output: output)
    self.sound =
      if let mode = plan.audio?.mode, let sound {
        try AudioTracks.track(
          mode, of: sound, from: grid.seconds(shifts[sound.source.name] ?? 0), until: grid.seconds(slots),
          output: output)
      } else { nil }
    // Only one form is prepared: another composition of the same pictures makes its own.
    for (input, preparation) in compositor.preparations where readers[input]?.preparation == nil {
      readers[input]?.preparation = preparation
    }
    if let track = self.sound { sound?.packetTaps.append(track) }
    try output.start()
  }

  /// What was decided that the plan could not know.
  var decisions: [Decision] {
    let late = shifts.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
    let lead = late.map { ", from picture \($0.value) of the \($0.key.rawValue) on" }.joined()
    return [
      Decision(
        .timeGrid, choice: "\(slots) pictures at \(grid.rate) a second",
        reason: "the common span of both clips, each shown by its own times\(lead)")
    ]
      + compositor.summaries.map { input, summary in
        Decision(.scaling, input: input, choice: summary, reason: "it fills its place in \(plan.role.rawValue)")
      }
  }

  /// Composes and encodes the next picture.
  func encode(slot: Int) throws(Stop) {
    try compositor.compose(readers) { (frame) throws(Stop) in
      for still in stills where self.slot(of: still.plan.at) == slot { try still.write(frame) }
      if let preview, let time = preview.nextTime, self.slot(of: time) == slot { try preview.write(frame) }
      try video.encode(frame)
    }
  }

  /// Completes the file; both inputs are at their ends.
  func finish() throws(Stop) -> [OutputFacts] {
    try video.finish()
    try sound?.finish()
    let facts = try output.finish(size: plan.canvas.size, seconds: grid.seconds(slots))
    var all = [facts] + stills.compactMap(\.facts)
    if let preview { all.append(try preview.finish()) }
    return all
  }

  private func slot(of seconds: Double) -> Int { min(grid.whole(in: seconds), slots - 1) }
}
