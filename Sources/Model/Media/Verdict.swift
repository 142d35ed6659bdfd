/// What the service says of a submission's media, the same from the command line and over HTTP.
package struct Verdict: Codable, Sendable, Hashable {
  /// Accepted or rejected.
  package enum Outcome: String, Codable, Sendable {
    case accepted
    case rejected
  }

  /// Accepted or rejected; the name of the key in JSON.
  package var verdict: Outcome
  /// Why it was rejected; empty when accepted.
  package var reasons: [Reason]
  /// What is odd about the media, accepted or not.
  package var warnings: [Warning]
  /// What was found in each input that could be read.
  package var inputs: [InputName: InputReport]
  /// How the two clips belong together; nil for one clip, and where it was not looked at.
  package var moment: MomentReport?
  /// What was chosen, and why.
  package var decisions: [Decision]
  /// What was found in each photo; nil for clips.
  package var photos: [PhotoFacts]?

  package init(
    reasons: [Reason], warnings: [Warning] = [], inputs: [InputName: InputReport],
    moment: MomentReport? = nil, decisions: [Decision], photos: [PhotoFacts]? = nil
  ) {
    verdict = reasons.isEmpty ? .accepted : .rejected
    self.reasons = reasons
    self.warnings = warnings
    self.inputs = inputs
    self.moment = moment
    self.decisions = decisions
    self.photos = photos
  }

  /// The same verdict without what was found: its codes alone, and what they are about.
  package var withoutFindings: Verdict {
    let reasons = reasons.map { reason in
      var plain = Reason(reason.code, input: reason.input, detail: "What was found cannot be stored.")
      plain.photo = reason.photo
      return plain
    }
    var verdict = Verdict(reasons: reasons, inputs: [:], decisions: [])
    verdict.verdict = self.verdict
    return verdict
  }

  /// Why it was rejected, in one line.
  package var reasonText: String { reasons.map { "\($0.code.rawValue): \($0.detail)" }.joined(separator: "; ") }
}
