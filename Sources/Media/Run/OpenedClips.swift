import Model

/// The second phase of a run: the clips are open, and no packet is read.
struct OpenedClips {
  let scanned: ScannedInputs
  /// In the order of the inputs.
  let clips: [OpenClip]
  let report: PartialReport

  /// Opens the clips one after the other.
  init(_ scanned: ScannedInputs, mode: ExecutionMode) throws(RunEnding) {
    var report = scanned.report
    var clips: [OpenClip] = []
    for input in scanned.inputs {
      let clip = try report.step { () throws(RunFailure) in try OpenClip(input, mode: mode) }
      clips.append(clip)
      report.readers[input.name] = clip.reader
      if let decision = clip.layout.colorDecision(of: input.name, facts: input.plan.facts.video) {
        report.decisions.append(decision)
      }
    }
    self.scanned = scanned
    self.clips = clips
    self.report = report
  }

  func clip(_ input: InputName) throws(RunFailure) -> OpenClip {
    guard let clip = clips.first(where: { $0.reader.source.name == input }) else {
      throw .missing("the input \(input.rawValue)")
    }
    return clip
  }

  /// The clips that a composition shows.
  func shown(in composition: CompositionPlan) throws(RunFailure) -> [InputName: OpenClip] {
    var shown: [InputName: OpenClip] = [:]
    for tile in composition.tiles { shown[tile.input] = try clip(tile.input) }
    guard shown.values.allSatisfy({ $0.scan != nil }) else {
      throw .failed(MediaError(.invalidPlan, "a composition needs inputs whose duration is limited"))
    }
    return shown
  }
}

/// An open input with the layout of its frames.
struct OpenClip {
  let reader: ClipReader
  let layout: FrameLayout
  /// Nil if the plan does not limit the duration.
  let scan: PacketScan?
  let loudness: Loudness?
  let isOverdriven: Bool
  /// Nil without a scan.
  let monitor: FrameMonitor?

  init(_ input: ScannedInput, mode: ExecutionMode) throws(RunFailure) {
    scan = input.scan
    loudness = input.loudness
    isOverdriven = input.isOverdriven
    reader = try ClipReader(input.source, plan: input.plan, expected: scan, mode: mode)
    layout = FrameLayout(input.plan.facts.video)
    monitor = scan == nil ? nil : FrameMonitor(layout, of: input.name)
    if let monitor { reader.frameTaps.append(monitor) }
  }
}
