/// What is known of how two clips belong together; a player that changes cameras needs it.
package struct MomentReport: Codable, Sendable, Hashable {
  /// How much later in the front's file than in the back's the same sound is heard, in seconds; nil if the sounds do
  /// not say.
  package var offsetSeconds: Double?
  /// Of the offset, 0 to 1.
  package var confidence: Double
  /// By how much the times of recording differ, in seconds; nil if a file does not say.
  package var recordedDifference: Double?

  package init(offsetSeconds: Double?, confidence: Double, recordedDifference: Double?) {
    self.offsetSeconds = offsetSeconds
    self.confidence = confidence
    self.recordedDifference = recordedDifference
  }
}
