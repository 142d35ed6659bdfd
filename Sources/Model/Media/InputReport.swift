/// What is known of one input after it was probed and, as far as it went, decoded.
package struct InputReport: Codable, Sendable, Hashable {
  package var facts: ClipFacts
  /// The frames decoded; nil when the input was not decoded.
  package var frames: Int?
  /// The time from the first frame's start to the last one's end, in seconds, as decoded.
  package var decodedSeconds: Double?
  /// When the first frame is shown by the file's own clock, edit lists applied, in seconds.
  package var start: Double?

  package init(facts: ClipFacts, frames: Int? = nil, decodedSeconds: Double? = nil, start: Double? = nil) {
    self.facts = facts
    self.frames = frames
    self.decodedSeconds = decodedSeconds
    self.start = start
  }
}
