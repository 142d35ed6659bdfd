import Model

/// What `take5 compose --json` prints: the verdict with its decisions, and where each output lies.
struct ComposeAnswer: Encodable {
  /// One output and its path.
  struct Output: Encodable {
    let path: String
    let type: String
    let bytes: Int64
    let width: Int
    let height: Int
    let duration: Double?
    let thumbhash: String?
  }

  let verdict: Verdict.Outcome
  let reasons: [Reason]
  let warnings: [Warning]
  let inputs: [InputName: InputReport]
  let moment: MomentReport?
  let decisions: [Decision]
  let outputs: [Role: Output]

  init(verdict: Verdict, outputs: [OutputFacts], paths: [Role: String]) {
    self.verdict = verdict.verdict
    reasons = verdict.reasons
    warnings = verdict.warnings
    inputs = verdict.inputs
    moment = verdict.moment
    decisions = verdict.decisions
    var named: [Role: Output] = [:]
    for output in outputs {
      guard let path = paths[output.role] else { continue }
      named[output.role] = Output(
        path: path, type: output.type, bytes: output.bytes, width: output.width, height: output.height,
        duration: output.duration, thumbhash: output.thumbhash)
    }
    self.outputs = named
  }
}
