import AV
import Model

/// The first phase of a run: the inputs after the checks that need none of their frames.
///
/// The files differ, their packets give durations that the plan allows, and two clips can show one moment.
struct ScannedInputs {
  /// In the order of their names; what is not used is cut off.
  let inputs: [ScannedInput]
  let grid: TimeGrid
  /// The number of ticks of each clip before the time at which both run; empty if they start together, their offset is unknown or
  /// they are not to be aligned.
  let shifts: [InputName: Int]
  /// The compositions with their sound, in the order of the plan.
  let compositions: [CompositionPlan]
  let report: PartialReport

  init(of plan: Plan, from sources: [InputName: InputSource], mode: ExecutionMode) throws(RunEnding) {
    var report = PartialReport(of: plan)
    let inputs = try report.step { () throws(RunFailure) in try Self.scanPackets(of: plan, from: sources) }
    let reasons = DurationRule(limits: plan.limits).reasons(inputs)
    guard reasons.isEmpty else { throw report.rejection(reasons) }
    report.decisions += inputs.compactMap(\.trimming)

    // A first look judges nothing, but its sound has the same level as the run's.
    let scanned = inputs.filter { plan.isLook != true || plan.encodesSound(of: $0.name, in: plan.compositions) }
    let audio = try report.step { () throws(RunFailure) in
      try Self.scanAudio(of: scanned, limits: plan.limits, mode: mode)
    }
    let sounds = plan.compositions.map { SoundChoice($0) { audio[$0]?.isSilent == true } }
    report.decisions += sounds.compactMap(\.decision)
    let replaced = Set(sounds.compactMap(\.replaced))
    for input in inputs {
      if plan.isLook != true {
        let warnings = audio[input.name]?.warnings(of: input.name) ?? input.soundWarnings
        report.warnings += warnings.filter { $0.code != .silentAudio || !replaced.contains(input.name) }
      }
      if plan.encodesSound(of: input.name, in: sounds.map(\.plan), where: { $0.loudness == nil }),
        let decision = audio[input.name]?.levelDecision(of: input.name)
      {
        report.decisions.append(decision)
      }
    }

    let check = Self.momentCheck(of: plan, audio)
    report.moment = check?.report
    report.loudness = audio.compactMapValues(\.loudness?.lufs)
    report.moment?.sound = sounds.first { $0.replaced != nil }?.plan.audio?.input
    if let decision = check?.decision { report.decisions.append(decision) }
    if let doubt = check?.doubt {
      if plan.moment?.doubt == .refuse {
        throw report.rejection([Reason(.notOneMoment, input: nil, finding: doubt)])
      }
      report.warnings.append(Warning(.notOneMoment, input: nil, finding: doubt))
    }

    self.report = report
    compositions = sounds.map(\.plan)
    let grid = TimeGrid(of: plan, inputs.map { $0.used() })
    let isAligned = plan.moment?.align == true && check?.alignment?.outcome == .aligned
    let shifts = CommonSpan.shifts(offset: isAligned ? check?.alignment?.offset : nil, grid: grid)
    self.inputs = inputs.map { input in
      var used = input.used(after: grid.seconds(shifts[input.name] ?? 0))
      used.isOverdriven = audio[input.name]?.isOverdriven == true
      used.loudness = audio[input.name]?.loudness
      return used
    }
    self.grid = grid
    self.shifts = shifts
  }

  private static func scanPackets(
    of plan: Plan, from sources: [InputName: InputSource]
  ) throws(RunFailure) -> [ScannedInput] {
    let inputs = try plan.inputs.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { (name, plan) throws(RunFailure) in
        guard let source = sources[name] else { throw .missing("the input \(name.rawValue)") }
        return (source: source, plan: plan)
      }
    try refuseSameFile(inputs.map(\.source))
    return try inputs.map { (input) throws(RunFailure) in try ScannedInput(input.source, plan: input.plan) }
  }

  private static func refuseSameFile(_ sources: [InputSource]) throws(RunFailure) {
    guard sources.count == 2 else { return }
    do {
      guard try FileComparison.areEqual(sources[0].file, sources[1].file) else { return }
    } catch {
      throw RunFailure(error)
    }
    throw .refused(Reason(.sameFileTwice, input: nil, finding: "both inputs are the same file"))
  }

  /// Decodes the audio of all inputs whose duration is limited, of trimmed ones up to the end of the latest part that may be used.
  private static func scanAudio(
    of inputs: [ScannedInput], limits: Limits, mode: ExecutionMode
  ) throws(RunFailure) -> [InputName: AudioScan] {
    let maxShift = AudioAlignment.maxSearched(for: AudioAlignment.maxUsual(limits))
    let requests = inputs.compactMap { input -> AudioScan.Request? in
      guard let scan = input.scan, let audio = input.plan.facts.audio else { return nil }
      return AudioScan.Request(
        source: input.source, stream: audio.stream, origin: scan.timeBase.seconds(scan.origin),
        maxSeconds: min(scan.seconds, limits.trimSeconds.map { $0 + maxShift } ?? scan.seconds))
    }
    let scans = try AudioScan.all(requests, mode: mode)
    return Dictionary(uniqueKeysWithValues: zip(requests.map(\.source.name), scans))
  }

  /// Checks whether both clips show one moment; nil if the plan does not ask for it.
  private static func momentCheck(of plan: Plan, _ audio: [InputName: AudioScan]) -> MomentCheck? {
    guard let rule = plan.moment, let front = plan.inputs[.front]?.facts, let back = plan.inputs[.back]?.facts else {
      return nil
    }
    let both = audio[.front].flatMap { front in audio[.back].map { (front: front, back: $0) } }
    return MomentCheck(
      front: front, back: back, audio: both, rule: rule, maxOffset: AudioAlignment.maxUsual(plan.limits))
  }
}

/// An input whose packets are scanned.
struct ScannedInput {
  let source: InputSource
  let plan: InputPlan
  /// Nil if the plan does not limit the duration.
  private(set) var scan: PacketScan?
  /// Whether its sound is at full scale for a part of the time that is audible.
  var isOverdriven = false
  /// How loud it is; nil without sound that was scanned, of silence, and of less than 0.4 s.
  var loudness: Loudness?

  init(_ source: InputSource, plan: InputPlan) throws(RunFailure) {
    self.source = source
    self.plan = plan
    scan = try source.limits.seconds.map { (allowed) throws(RunFailure) in
      try PacketScan(of: source, video: plan.facts.video, allowedDuration: allowed)
    }
  }

  var name: InputName { source.name }

  /// The input without what lies behind the used part.
  ///
  /// - Parameter start: the time from which on a composition shows it, in seconds.
  func used(after start: Double = 0) -> ScannedInput {
    guard let trim = source.limits.trimSeconds else { return self }
    var used = self
    used.scan = scan?.first(start + trim)
    return used
  }

  /// The decision to use a part of it; nil: all of it is used.
  var trimming: Decision? {
    guard let trim = source.limits.trimSeconds, let scan, used().scan?.end != nil else { return nil }
    return Decision(
      .trimming, input: name, choice: "trimmed to \(trim.hundredths) s",
      reason: "it lasts \(scan.seconds.hundredths) s, of which the definition uses the first \(trim.hundredths)")
  }

  /// The warning that its sound is left out; none if it has no sound.
  var soundWarnings: [Warning] {
    guard let undecoded = plan.facts.undecodedSound else { return [] }
    let codecs = undecoded.joined(separator: ", ")
    return [
      Warning(.unsupportedAudio, input: name, finding: "its audio (\(codecs)) cannot be decoded and is left out")
    ]
  }
}

extension Plan {
  /// Whether the sound of an input is encoded, by a condition.
  ///
  /// - Parameter compositions: with the sound that they have.
  fileprivate func encodesSound(
    of input: InputName, in compositions: [CompositionPlan], where isMeant: (AudioPlan) -> Bool = { _ in true }
  ) -> Bool {
    (compositions.map(\.audio) + clips.map(\.audio)).compactMap(\.self)
      .contains { $0.input == input && $0.mode == .encode && isMeant($0) }
  }
}
