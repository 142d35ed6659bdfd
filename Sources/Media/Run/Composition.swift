import AV
import Model
import Platform

/// Writes one composed video, and the rendition, the stills and the preview that are taken from it.
final class Composition {
  /// The number of frames of the composed video.
  let ticks: Int
  private let plan: CompositionPlan
  private let grid: TimeGrid
  /// The number of ticks of each input before the start of the composed video.
  private let shifts: [InputName: Int]
  private let readers: [InputName: ClipReader]
  private let compositor: Compositor
  private let container: ContainerWriter
  private let video: VideoTrack
  private let audio: (any AudioTrack)?
  private let level: SoundLevel
  private let rendition: RenditionWriter?
  private let stills: [StillWriter]
  private let preview: PreviewWriter?

  /// - Parameters:
  ///   - span: what both inputs show.
  ///   - grid: of all outputs.
  ///   - audioClip: the input whose audio the composed video has.
  ///   - rendition, stills, preview: the outputs that are taken from composed frames.
  ///   - files: an empty file for each of the outputs.
  init(
    _ plan: CompositionPlan, span: CommonSpan, grid: TimeGrid, clips: [InputName: OpenClip], audioClip: OpenClip?,
    rendition: RenditionPlan?, stills: [StillPlan], preview: PreviewPlan?, files: [Role: OpenFile]
  ) throws(RunFailure) {
    let layout = FrameLayout(upright: plan.canvas.size)
    self.stills = try stills.map { (plan) throws(RunFailure) in
      try StillWriter(plan, layout: layout, file: try files.file(for: plan.role))
    }
    self.preview = try preview.map { (plan) throws(RunFailure) in
      try PreviewWriter(plan, layout: layout, file: try files.file(for: plan.role))
    }
    ticks = min(grid.ticks(in: span.seconds), grid.wholeTicks(in: plan.seconds.longest))
    self.plan = plan
    self.grid = grid
    shifts = span.shifts
    readers = clips.mapValues(\.reader)
    compositor = try Compositor(
      plan, layouts: clips.mapValues(\.layout),
      isInPlace: clips.values.allSatisfy { $0.reader.allowsDrawingInPlace })
    // Of both pictures: neither is far from the sound.
    let lead =
      readers.values.map { [ticks] reader in
        let shift = span.shifts[reader.source.name] ?? 0
        return reader.lead(in: shift..<shift + ticks, of: grid)
      }.reduce(0, +) / Double(max(1, readers.count))
    container = try ContainerWriter(plan.role, file: try files.file(for: plan.role))
    self.rendition = try rendition.map { (rendition) throws(RunFailure) in
      try RenditionWriter(
        rendition, of: plan.canvas.size, grid: grid, file: try files.file(for: rendition.role),
        mode: clips.values.contains { $0.reader.mode == .latency } ? .latency : .throughput)
    }
    let containers = [container] + [self.rendition?.container].compactMap(\.self)
    video = try VideoTrack(plan.video, size: plan.canvas.size, grid: grid, container: container)
    level = SoundLevel(plan.audio, of: audioClip?.loudness, isOverdriven: audioClip?.isOverdriven == true)
    let audioReader = audioClip?.reader
    audio =
      if let mode = plan.audio?.mode, let audioReader {
        try AudioTracks.track(
          mode, of: audioReader, gain: level.factor, from: grid.seconds(shifts[audioReader.source.name] ?? 0) + lead,
          until: grid.seconds(ticks), containers: containers)
      } else { nil }
    // A reader prepares its frames in one form only: another composition of the same frames converts its own.
    for (input, preparation) in compositor.preparations where readers[input]?.preparation == nil {
      readers[input]?.preparation = preparation
    }
    if let audio { audioReader?.packetTaps.append(audio) }
    for container in containers { try container.start() }
  }

  /// The decisions that need more than the plan.
  var decisions: [Decision] {
    let late = shifts.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
    let lead = late.map { ", from frame \($0.value) of the \($0.key.rawValue) on" }.joined()
    return [
      Decision(
        .timeGrid, choice: "\(ticks) frames at \(grid.rate) per second",
        reason: "the common span of both clips, each shown by its own timestamps\(lead)")
    ]
      + compositor.summaries.map { input, summary in
        Decision(.scaling, input: input, choice: summary, reason: "it fills its rectangle in \(plan.role.rawValue)")
      }
      + [rendition].compactMap(\.self).map { rendition in
        Decision(
          .scaling, choice: rendition.summary,
          reason: "\(rendition.plan.role.rawValue) shows the frames of \(plan.role.rawValue)")
      }
  }

  /// Composes and encodes the frame of a tick.
  func encode(tick: Int) throws(RunFailure) {
    try compositor.compose(readers) { (frame) throws(RunFailure) in
      for still in stills where self.tick(of: still.plan.at) == tick { try still.write(frame) }
      if let preview, let time = preview.nextTime, self.tick(of: time) == tick { try preview.write(frame) }
      try rendition?.write(frame)
      try video.encode(frame)
    }
  }

  /// Completes the files, after the end of both inputs.
  func finish() throws(RunFailure) -> [OutputFacts] {
    try video.finish()
    try audio?.finish()
    var all = [try container.finish(size: plan.canvas.size, seconds: grid.seconds(ticks))]
    if let rendition { all.append(try rendition.finish(seconds: grid.seconds(ticks))) }
    for index in all.indices { all[index].loudnessLufs = level.lufs }
    all += stills.compactMap(\.facts)
    if let preview { all.append(try preview.finish()) }
    return all
  }

  private func tick(of seconds: Double) -> Int { min(grid.wholeTicks(in: seconds), ticks - 1) }
}
