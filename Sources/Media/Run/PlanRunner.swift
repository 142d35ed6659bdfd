import AV
package import Model
package import Platform

/// Runs a plan: it decodes each input once, validates it, and writes every output.
///
/// A run is synchronous, and reads and writes only the files that it is given. The same plan and inputs give outputs
/// with the same bytes.
package final class PlanRunner {
  private let plan: Plan
  private let mode: ExecutionMode
  private let sources: [InputName: InputSource]
  private let outputs: [Role: OpenFile]
  private let rule: DurationRule
  private var scans: [InputName: PacketScan] = [:]
  private var audioScans: [InputName: AudioScan] = [:]
  private var moment: MomentCheck?
  private var monitors: [FrameMonitor] = []
  private var clips: [InputName: OpenClip] = [:]
  private var compositions: [Composition] = []
  private var clipOutputs: [ClipOutput] = []
  private var stills: [StillTap] = []
  private var preview: PreviewTap?
  private var decisions: [Decision]
  private var warnings: [Warning] = []

  /// - Parameters:
  ///   - mode: determines the number of threads.
  ///   - inputs: a readable, seekable file for each input of the plan.
  ///   - outputs: an empty, readable, writable and seekable file for each of `plan.outputs`.
  ///   - cancellation: read between packets; the outputs of a cancelled run are incomplete.
  package init(
    _ plan: Plan, mode: ExecutionMode = .throughput, inputs: [InputName: OpenFile], outputs: [Role: OpenFile],
    cancellation: CancellationFlag = CancellationFlag()
  ) {
    self.plan = plan
    self.mode = mode
    self.outputs = outputs
    rule = DurationRule(limits: plan.limits)
    decisions = plan.decisions
    let interrupt = Interrupt(flag: cancellation)
    sources = inputs.reduce(into: [:]) { sources, input in
      sources[input.key] = InputSource(name: input.key, file: input.value, limits: plan.limits, interrupt: interrupt)
    }
  }

  /// The inputs of the plan in a fixed order.
  private var inputs: [InputName] { plan.inputs.keys.sorted { $0.rawValue < $1.rawValue } }

  /// Runs the plan, once.
  ///
  /// - Parameter progress: called after each slot with the completed fraction, 0 to 1.
  /// - Returns: the verdict and, if it is accepted, the facts of each output. Outputs of a rejected run are incomplete.
  package func run(progress: (Double) -> Void = { _ in }) throws(MediaError) -> RunReport {
    do {
      try refuseSameFile()
      let reasons = try scan()
      if !reasons.isEmpty { return rejected(reasons) }
      try scanAudio()
      try checkMoment()
      try open()
      try prepareOutputs()
      try decode(progress: progress)
      let facts = try finish()
      try checkPrivacy(facts)
      warnings += monitors.flatMap(\.warnings)
      progress(1)
      return RunReport(
        verdict: Verdict(
          reasons: [], warnings: warnings, inputs: inputReports, moment: moment?.report,
          decisions: decisions), outputs: facts)
    } catch {
      switch error {
      case .refused(let reason): return rejected([reason])
      case .failed(let failure): throw failure
      }
    }
  }

  private func rejected(_ reasons: [Reason]) -> RunReport {
    RunReport(
      verdict: Verdict(
        reasons: reasons, warnings: warnings, inputs: inputReports, moment: moment?.report,
        decisions: decisions), outputs: [])
  }

  private var inputReports: [InputName: InputReport] {
    plan.inputs.reduce(into: [:]) { reports, input in
      let reader = clips[input.key]?.reader
      reports[input.key] = InputReport(
        facts: input.value.facts, frames: reader?.frames, decodedSeconds: reader?.decodedSeconds,
        start: reader?.startSeconds)
    }
  }

  /// The time grid of all outputs: at the rate of the canvas, or without a composition at the highest rate of the
  /// clips, within the limit of the clip outputs.
  private var grid: TimeGrid {
    let own = scans.values.map { Int($0.framesPerSecond.rounded()) }.max() ?? 1
    let maxRate = plan.clips.compactMap(\.framesPerSecond).min() ?? own
    return TimeGrid(rate: plan.compositions.first?.canvas.framesPerSecond ?? max(1, min(own, maxRate)))
  }

  private func source(_ input: InputName) throws(RunFailure) -> InputSource {
    guard let source = sources[input] else { throw missing("the input \(input.rawValue)") }
    return source
  }

  private func file(_ role: Role) throws(RunFailure) -> OpenFile {
    guard let file = outputs[role] else { throw missing("a file for \(role.rawValue)") }
    return file
  }

  private func clip(_ input: InputName) throws(RunFailure) -> OpenClip {
    guard let clip = clips[input] else { throw missing("the input \(input.rawValue)") }
    return clip
  }

  private func missing(_ what: String) -> RunFailure {
    .failed(MediaError(.invalidPlan, "the plan needs \(what), which is missing"))
  }

  private func refuseSameFile() throws(RunFailure) {
    guard inputs.count == 2 else { return }
    let (one, other) = (try source(inputs[0]).file, try source(inputs[1]).file)
    do {
      guard try FileComparison.areEqual(one, other) else { return }
    } catch {
      throw RunFailure(error)
    }
    throw .refused(
      Reason(.sameFileTwice, input: nil, finding: "both inputs are the same file"))
  }

  private func scan() throws(RunFailure) -> [Reason] {
    guard let allowed = plan.limits.seconds else { return [] }
    for input in inputs {
      guard let video = plan.inputs[input]?.facts.video else { continue }
      scans[input] = try PacketScan(of: try source(input), video: video, allowed: allowed)
    }
    return rule.reasons(scans)
  }

  /// Decodes the audio of all inputs whose duration is limited.
  private func scanAudio() throws(RunFailure) {
    var requests: [AudioScan.Request] = []
    for (input, scan) in scans.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let audio = plan.inputs[input]?.facts.audio else { continue }
      requests.append(
        AudioScan.Request(
          source: try source(input), stream: audio.stream, origin: scan.timeBase.seconds(scan.origin),
          maxSeconds: scan.seconds))
    }
    for (request, scan) in zip(requests, try AudioScan.all(requests, mode: mode)) {
      audioScans[request.source.name] = scan
      warnings += scan.warnings(of: request.source.name)
    }
  }

  /// Checks whether both clips show one moment.
  private func checkMoment() throws(RunFailure) {
    guard let rule = plan.moment, let front = plan.inputs[.front]?.facts, let back = plan.inputs[.back]?.facts else {
      return
    }
    let both = audioScans[.front].flatMap { front in audioScans[.back].map { (front: front, back: $0) } }
    let check = MomentCheck(
      front: front, back: back, audio: both, rule: rule, maxOffset: max(0.5, plan.limits.differenceSeconds))
    moment = check
    if let decision = check.decision { decisions.append(decision) }
    guard let doubt = check.doubt else { return }
    let reason = Reason(.notOneMoment, input: nil, finding: doubt)
    if rule.doubt == .refuse { throw .refused(reason) }
    warnings.append(Warning(.notOneMoment, input: nil, detail: reason.detail))
  }

  /// The number of slots of each clip before the first instant that both show; empty if they start together or the
  /// offset is unknown.
  private func shifts(of composition: CompositionPlan) -> [InputName: Int] {
    guard plan.moment?.align == true, let alignment = moment?.alignment, alignment.outcome == .aligned else {
      return [:]
    }
    let slots = Int((alignment.offset * Double(grid.rate)).rounded())
    guard slots != 0 else { return [:] }
    let shifts: [InputName: Int] = slots > 0 ? [.front: slots] : [.back: -slots]
    guard commonSeconds(shifts) >= composition.seconds.shortest else {
      decisions.append(
        Decision(
          .alignment, choice: "not applied",
          reason: "the clips would have less than \(DurationRule.text(composition.seconds.shortest)) s in common"))
      return [:]
    }
    return shifts
  }

  /// The duration that remains of the shortest clip, in seconds.
  private func commonSeconds(_ shifts: [InputName: Int]) -> Double {
    scans.map { $0.value.seconds - grid.seconds(shifts[$0.key] ?? 0) }.min() ?? 0
  }

  private func open() throws(RunFailure) {
    for input in inputs {
      guard let inputPlan = plan.inputs[input] else { continue }
      let reader = try ClipReader(try source(input), plan: inputPlan, expected: scans[input], mode: mode)
      let layout = FrameLayout(inputPlan.facts.video)
      clips[input] = OpenClip(reader: reader, layout: layout, scan: scans[input])
      if scans[input] != nil {
        let monitor = FrameMonitor(layout, of: input)
        reader.frameTaps.append(monitor)
        monitors.append(monitor)
      }
      if let decision = layout.colorDecision(of: input, facts: inputPlan.facts.video) { decisions.append(decision) }
    }
  }

  private func prepareOutputs() throws(RunFailure) {
    for plan in plan.compositions { compositions.append(try prepare(plan)) }
    for plan in plan.clips {
      let clip = try clip(plan.input)
      clipOutputs.append(try ClipOutput(plan, clip: clip, grid: grid, file: try file(plan.role)))
    }
    for plan in plan.stills {
      guard let input = plan.input else { continue }
      let clip = try clip(input)
      let tap = StillTap(try StillWriter(plan, layout: clip.layout, file: try file(plan.role)))
      clip.reader.frameTaps.append(tap)
      stills.append(tap)
    }
    if let plan = plan.preview, let input = plan.input {
      let clip = try clip(input)
      let tap = PreviewTap(try PreviewWriter(plan, layout: clip.layout, file: try file(plan.role)))
      clip.reader.frameTaps.append(tap)
      preview = tap
    }
  }

  private func prepare(_ composition: CompositionPlan) throws(RunFailure) -> Composition {
    var shown: [InputName: OpenClip] = [:]
    for tile in composition.tiles { shown[tile.input] = try clip(tile.input) }
    guard shown.values.allSatisfy({ $0.scan != nil }) else {
      throw .failed(MediaError(.invalidPlan, "a composition needs inputs whose duration is limited"))
    }
    let shifts = shifts(of: composition)
    let seconds = commonSeconds(shifts)
    if let reason = rule.commonSpanReason(seconds: seconds, shortest: composition.seconds.shortest) {
      throw .refused(reason)
    }
    var stills: [StillWriter] = []
    // Stills and preview of a composed video are taken from the first composition.
    for plan in plan.stills where plan.input == nil && compositions.isEmpty {
      stills.append(
        try StillWriter(
          plan, layout: FrameLayout(upright: composition.canvas.size), file: try file(plan.role)))
    }
    let isFirst = compositions.isEmpty
    let preview = try self.plan.preview.flatMap { (plan) throws(RunFailure) -> PreviewWriter? in
      guard isFirst, plan.input == nil else { return nil }
      return try PreviewWriter(
        plan, layout: FrameLayout(upright: composition.canvas.size), file: try file(plan.role))
    }
    let composed = try Composition(
      composition, seconds: seconds, shifts: shifts, clips: shown, file: try file(composition.role),
      audioReader: try composition.audio.map { (audio) throws(RunFailure) in try clip(audio.input).reader },
      stills: stills, preview: preview)
    decisions += composed.decisions
    return composed
  }

  /// Encodes every slot of the grid in order, decoding each clip up to it, and then decodes the rest of the clips.
  private func decode(progress: (Double) -> Void) throws(RunFailure) {
    let readers = inputs.compactMap { clips[$0]?.reader }
    for reader in readers { try reader.prepare() }
    for reader in readers { try reader.start() }
    let grid = grid
    // All compositions show the same two clips with the same offset.
    let shifts = compositions.first?.shifts ?? [:]
    let first = -(shifts.values.max() ?? 0)
    let last = (compositions.map(\.slots) + clipOutputs.map(\.slots)).max() ?? 0
    for slot in first..<max(first, last) {
      for reader in readers { try reader.advance(toSlot: slot + shift(of: reader, shifts), of: grid) }
      for composition in compositions where (0..<composition.slots).contains(slot) {
        try composition.encode(slot: slot)
      }
      for output in clipOutputs { try output.encode(slot: slot + shift(of: output.reader, shifts)) }
      progress(Double(slot - first) / Double(last - first))
    }
    // Without a limit on the duration the rest of the input need not be decoded.
    if plan.limits.seconds == nil {
      for reader in readers {
        while !reader.frameTaps.allSatisfy(\.isFinished), try reader.advance() {}
      }
      return
    }
    for reader in readers {
      try reader.finish()
      // A clip whose first frames refer to frames before its start has fewer frames than packets.
      if let reason = rule.durationReason(reader.source.name, seconds: reader.decodedSeconds) {
        throw .refused(reason)
      }
    }
  }

  /// Parses every output and checks that it holds no identifying metadata.
  private func checkPrivacy(_ facts: [OutputFacts]) throws(RunFailure) {
    guard !facts.isEmpty else { return }
    for output in facts {
      try PrivacyCheck(role: output.role, file: try file(output.role)).check()
    }
    let kinds = Set(plan.inputs.values.flatMap(\.facts.identifying).map(\.kind.rawValue)).sorted()
    let found = kinds.isEmpty ? "the inputs held none" : "the inputs held metadata on \(kinds.joined(separator: ", "))"
    decisions.append(
      Decision(
        .privacy, choice: "no identifying metadata is left",
        reason: "\(facts.count) outputs were parsed; \(found)"))
  }

  /// The slot of an input that slot 0 of the composition shows.
  private func shift(of reader: ClipReader, _ shifts: [InputName: Int]) -> Int { shifts[reader.source.name] ?? 0 }

  private func finish() throws(RunFailure) -> [OutputFacts] {
    var facts: [OutputFacts] = []
    for composition in compositions { facts += try composition.finish() }
    for output in clipOutputs { facts.append(try output.finish()) }
    facts += stills.compactMap(\.writer.facts)
    if let preview { facts.append(try preview.writer.finish()) }
    return facts
  }
}
