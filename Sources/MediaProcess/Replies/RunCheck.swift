import Model

/// Checks the reply to a request to run a plan.
struct RunCheck {
  let plan: Plan
  let outputs: [Role: RequestFile]

  /// The report with cleaned texts, if the plan can have it and its outputs are as it says.
  func checked(_ report: RunReport) throws(MediaFailure) -> RunReport {
    let verdict = report.verdict
    let field = ReplyField("verdict")
    try field.require(
      (verdict.verdict == .rejected) == !verdict.reasons.isEmpty,
      "is \(verdict.verdict.rawValue) with \(verdict.reasons.count) reasons")
    let inputs = plan.inputs.mapValues(\.facts.bytes)
    try verdict.reasons.check(as: field["reasons"], inputs: inputs)
    try verdict.decisions.check(as: field["decisions"], inputs: Set(inputs.keys))
    try field["warnings"].require(entries: verdict.warnings.count)
    for (index, warning) in verdict.warnings.enumerated() {
      let field = field["warnings"][index]
      try field["input"].require(warning.input.map { inputs[$0] != nil } ?? true, "is not an input of the plan")
      try field["seconds"].require(warning.seconds, in: ReplyField.positions)
    }
    try check(verdict.inputs, as: field["inputs"])
    try field["moment"].require(verdict.moment == nil || plan.moment != nil, "is unexpected")
    try verdict.moment?.check(as: field["moment"])
    try field["moment.sound"].require(
      verdict.moment?.sound.map { sound in plan.compositions.contains { $0.otherAudio?.input == sound } } ?? true,
      "is not the other sound of a composition")
    try field["photos"].require(verdict.photos == nil, "are unexpected")
    let planned = verdict.verdict == .accepted ? plan.plannedOutputs : []
    try OutputsCheck(planned: planned, files: outputs).check(report.outputs, as: ReplyField("outputs"))
    var cleaned = report
    cleaned.verdict.reasons = verdict.reasons.map(\.cleaned)
    cleaned.verdict.warnings = verdict.warnings.map(\.cleaned)
    cleaned.verdict.decisions = verdict.decisions.map(\.cleaned)
    return cleaned
  }

  /// A run reports the facts of its plan, with what decoding adds to them.
  private func check(_ inputs: [InputName: InputReport], as field: ReplyField) throws(MediaFailure) {
    try field.require(Set(inputs.keys) == Set(plan.inputs.keys), "are not those of the plan")
    for (input, report) in inputs {
      let field = field[input.rawValue]
      try field["facts"].require(report.facts == plan.inputs[input]?.facts, "are not those of the plan")
      try field["frames"].require(report.frames, in: 0...Int(Int32.max))
      try field["decoded_seconds"].require(report.decodedSeconds, in: 0...ReplyField.positions.upperBound)
      try field["start"].require(report.start, in: ReplyField.positions)
      try field["loudness_lufs"].require(report.loudnessLufs, in: ReplyField.loudness)
    }
  }
}

extension ReplyField {
  /// The positions in a clip, in seconds: its timestamps are within 68 years.
  static let positions = -1e10...1e10
  /// The loudness of sound, in LUFS: what is below -70 does not count, and samples are at most 48 dB above full scale.
  static let loudness = -150.0...100
}

extension [Reason] {
  /// Fails if there are too many, or one that no child gives.
  ///
  /// - Parameter inputs: the length of each input in bytes.
  func check(as field: ReplyField, inputs: [InputName: Int64]) throws(MediaFailure) {
    try field.require(entries: count)
    for (index, reason) in enumerated() { try reason.check(as: field[index], inputs: inputs) }
  }
}

extension Reason {
  // How a child ends is found by its parent.
  private static let parentCodes: Set<ReasonCode> = [.decoderCrashed, .memoryLimitExceeded, .deadlineExceeded]

  /// Fails if no child gives such a reason.
  ///
  /// - Parameter inputs: the length of each input in bytes.
  func check(as field: ReplyField, inputs: [InputName: Int64]) throws(MediaFailure) {
    try field["code"].require(!Self.parentCodes.contains(code), "is \(code.rawValue), which it cannot know")
    let bytes = input.map { inputs[$0] } ?? 0
    try field["input"].require(bytes != nil, "is not an input of the request")
    try field["byte_offset"].require(
      byteOffset.map { 0...(bytes ?? 0) ~= $0 } ?? true, "is \(byteOffset ?? 0), after the end of the file")
    try field["seconds"].require(seconds, in: ReplyField.positions)
    try field["photo"].require(photo == nil, "is unexpected")
  }
}

extension [Decision] {
  /// Fails if there are too many, or one about something else than these inputs.
  func check(as field: ReplyField, inputs: Set<InputName>) throws(MediaFailure) {
    try field.require(entries: count)
    for (index, decision) in enumerated() {
      try field[index]["input"].require(
        decision.input.map(inputs.contains) ?? true, "is not an input of the request")
    }
  }
}

extension MomentReport {
  fileprivate func check(as field: ReplyField) throws(MediaFailure) {
    // A day: the plan limits how far apart clips of one moment can be, but not how long they are.
    try field["offset_seconds"].require(offsetSeconds, in: -86_400...86_400)
    // A correlation of 1 is rounded.
    try field["confidence"].require(confidence, in: 0...1.000_001)
    try field["recorded_difference"].require(recordedDifference, in: 0...ReplyField.positions.upperBound)
  }
}
