/// What a run of a plan ends with: the verdict and, when it is accepted, the outputs.
package struct RunReport: Codable, Sendable, Hashable {
  package var verdict: Verdict
  /// Empty when the media were rejected.
  package var outputs: [OutputFacts]

  package init(verdict: Verdict, outputs: [OutputFacts]) {
    self.verdict = verdict
    self.outputs = outputs
  }
}
