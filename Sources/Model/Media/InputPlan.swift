/// How an input is read.
package struct InputPlan: Codable, Sendable, Hashable {
  package var facts: ClipFacts
  /// Whether its sound is read at all; the sound of an input that no output uses is skipped.
  package var readsAudio: Bool

  package init(facts: ClipFacts, readsAudio: Bool) {
    self.facts = facts
    self.readsAudio = readsAudio
  }
}
