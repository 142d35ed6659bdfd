/// One entry of the decision log: what was chosen, and why.
package struct Decision: Codable, Sendable, Hashable {
  /// What was decided about.
  package enum Subject: String, Codable, Sendable {
    case videoStream = "video_stream"
    case audioStream = "audio_stream"
    case unusedStreams = "unused_streams"
    case transform
    case deinterlacing
    case layout
    case scaling
    case alignment
    case timeGrid = "time_grid"
    case audio
    case clip
    case color
    case privacy
  }

  package let subject: Subject
  /// Which input; nil when it concerns the output.
  package let input: InputName?
  /// What was chosen, in a word or a short phrase.
  package let choice: String
  /// Why, in a sentence.
  package let reason: String

  package init(_ subject: Subject, input: InputName? = nil, choice: String, reason: String) {
    self.subject = subject
    self.input = input
    self.choice = choice
    self.reason = reason
  }
}
