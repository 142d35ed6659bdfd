import Model

/// The report of a run that has not ended: each phase adds to the report of the phase before it.
struct PartialReport {
  var decisions: [Decision]
  var warnings: [Warning] = []
  var moment: MomentReport?
  /// The readers of the open inputs, which count their frames.
  var readers: [InputName: ClipReader] = [:]
  /// The loudness of the inputs that have been scanned, in LUFS.
  var loudness: [InputName: Double] = [:]
  private let facts: [InputName: ClipFacts]

  init(of plan: Plan) {
    decisions = plan.decisions
    facts = plan.inputs.mapValues(\.facts)
  }

  /// Performs a step of a phase; a refusal ends the run with this report.
  func step<Result>(_ perform: () throws(RunFailure) -> Result) throws(RunEnding) -> Result {
    do { return try perform() } catch {
      switch error {
      case .refused(let reason): throw rejection([reason])
      case .failed(let failure): throw .failed(failure)
      }
    }
  }

  /// The ending of a run that refuses the media.
  func rejection(_ reasons: [Reason]) -> RunEnding { .rejected(report(reasons: reasons, outputs: [])) }

  /// The report of a run that accepts the media.
  func accepted(_ outputs: [OutputFacts]) -> RunReport { report(reasons: [], outputs: outputs) }

  private func report(reasons: [Reason], outputs: [OutputFacts]) -> RunReport {
    let inputs = facts.reduce(into: [InputName: InputReport]()) { inputs, input in
      let reader = readers[input.key]
      inputs[input.key] = InputReport(
        facts: input.value, frames: reader?.frames, decodedSeconds: reader?.decodedSeconds, start: reader?.startSeconds,
        loudnessLufs: loudness[input.key])
    }
    return RunReport(
      verdict: Verdict(reasons: reasons, warnings: warnings, inputs: inputs, moment: moment, decisions: decisions),
      outputs: outputs)
  }
}

/// The error that ends a run in one of its phases.
enum RunEnding: Error {
  /// The media are refused; the report has what was found until then.
  case rejected(RunReport)
  /// The run fails without a verdict on the media.
  case failed(MediaError)
}
