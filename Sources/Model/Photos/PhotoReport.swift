/// What a run over one photo found and wrote.
package struct PhotoReport: Codable, Sendable, Hashable {
  /// Why it was refused; nil: it was accepted.
  package var reason: Reason?
  /// What was found, as far as it was read.
  package var facts: PhotoFacts?
  /// What was chosen, and why.
  package var decisions: [Decision]
  /// A ThumbHash in base64.
  package var thumbhash: String?
  /// The colour that most of it has, `#rrggbb`.
  package var dominantColor: String?
  /// The outputs that were written; empty where it was refused.
  package var outputs: [OutputFacts]

  package init(
    reason: Reason? = nil, facts: PhotoFacts? = nil, decisions: [Decision] = [], thumbhash: String? = nil,
    dominantColor: String? = nil, outputs: [OutputFacts] = []
  ) {
    self.reason = reason
    self.facts = facts
    self.decisions = decisions
    self.thumbhash = thumbhash
    self.dominantColor = dominantColor
    self.outputs = outputs
  }
}
