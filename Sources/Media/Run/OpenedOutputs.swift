import Model
import Platform

/// The third phase of a run: the outputs are open, and the readers of the clips have all of their taps.
struct OpenedOutputs {
  let clips: OpenedClips
  /// The span that all compositions show; nil without a composition.
  let span: CommonSpan?
  let compositions: [Composition]
  let clipOutputs: [ClipOutput]
  let stills: [StillTap]
  let preview: PreviewTap?
  let files: [Role: OpenFile]
  let report: PartialReport

  /// Opens the outputs one after the other.
  ///
  /// - Parameter files: an empty file for each output of the plan.
  init(of plan: Plan, from clips: OpenedClips, to files: [Role: OpenFile]) throws(RunEnding) {
    var report = clips.report
    let shown = try report.step { () throws(RunFailure) in
      try clips.scanned.compositions.map { (plan) throws(RunFailure) in (plan, try clips.shown(in: plan)) }
    }
    let span = try Self.span(of: clips, limits: plan.limits, &report)
    var compositions: [Composition] = []
    for (composition, shown) in shown {
      guard let span else { break }
      // Rendition, stills and preview of a composed video are taken from the first composition.
      let isFirst = compositions.isEmpty
      let opened = try report.step { () throws(RunFailure) in
        try Composition(
          composition, span: span, grid: clips.scanned.grid, clips: shown,
          audioClip: try composition.audio.map { (audio) throws(RunFailure) in try clips.clip(audio.input) },
          rendition: isFirst ? plan.rendition : nil, stills: isFirst ? plan.stills.filter { $0.input == nil } : [],
          preview: isFirst && plan.preview?.input == nil ? plan.preview : nil, files: files)
      }
      report.decisions += opened.decisions
      compositions.append(opened)
    }
    self.clips = clips
    self.span = span
    self.compositions = compositions
    clipOutputs = try report.step { () throws(RunFailure) in
      try plan.clips.map { (plan) throws(RunFailure) in
        try ClipOutput(
          plan, clip: try clips.clip(plan.input), grid: clips.scanned.grid, file: try files.file(for: plan.role))
      }
    }
    stills = try report.step { () throws(RunFailure) in try Self.stills(of: plan, from: clips, to: files) }
    preview = try report.step { () throws(RunFailure) in try Self.preview(of: plan, from: clips, to: files) }
    self.files = files
    self.report = report
  }

  /// The span of all compositions, long enough for each: of a clip one frame is decoded for a tick, which all of them show.
  private static func span(
    of clips: OpenedClips, limits: Limits, _ report: inout PartialReport
  ) throws(RunEnding) -> CommonSpan? {
    guard let shortest = clips.scanned.compositions.map(\.seconds.shortest).max() else { return nil }
    let span = clips.scanned.commonSpan(shortest: shortest, maxHeld: limits.differenceSeconds)
    if let decision = span.decision { report.decisions.append(decision) }
    let rule = DurationRule(limits: limits)
    if let reason = rule.commonSpanReason(seconds: span.seconds, shortest: shortest) {
      throw report.rejection([reason])
    }
    if let warning = span.warning { report.warnings.append(warning) }
    return span
  }

  /// The stills that are taken from clips.
  private static func stills(
    of plan: Plan, from clips: OpenedClips, to files: [Role: OpenFile]
  ) throws(RunFailure) -> [StillTap] {
    var taps: [StillTap] = []
    for plan in plan.stills {
      guard let input = plan.input else { continue }
      let clip = try clips.clip(input)
      let tap = StillTap(try StillWriter(plan, layout: clip.layout, file: try files.file(for: plan.role)))
      clip.reader.frameTaps.append(tap)
      taps.append(tap)
    }
    return taps
  }

  /// The preview, if it is taken from a clip.
  private static func preview(
    of plan: Plan, from clips: OpenedClips, to files: [Role: OpenFile]
  ) throws(RunFailure) -> PreviewTap? {
    guard let plan = plan.preview, let input = plan.input else { return nil }
    let clip = try clips.clip(input)
    let tap = PreviewTap(try PreviewWriter(plan, layout: clip.layout, file: try files.file(for: plan.role)))
    clip.reader.frameTaps.append(tap)
    return tap
  }
}

extension [Role: OpenFile] {
  /// The file for an output.
  func file(for role: Role) throws(RunFailure) -> OpenFile {
    guard let file = self[role] else { throw .missing("a file for \(role.rawValue)") }
    return file
  }
}
