package import Model

/// What the headers of a submission's inputs say.
package struct ProbeReport: Codable, Sendable, Hashable {
  /// Of the inputs that can be read.
  package var facts: [InputName: ClipFacts] = [:]
  /// Why inputs are refused; empty when all can be read.
  package var reasons: [Reason] = []

  package init() {}

  /// The verdict when the headers alone refuse the media.
  package var verdict: Verdict {
    Verdict(reasons: reasons, inputs: facts.mapValues { InputReport(facts: $0) }, decisions: [])
  }
}
