/// What a probe found in a clip's headers; nothing here has been proven by decoding.
package struct ClipFacts: Codable, Sendable, Hashable {
  package var container: ContainerName
  package var bytes: Int64
  /// In seconds, as the container says.
  package var duration: Double?
  package var video: VideoFacts
  /// The first audio stream that can be decoded.
  package var audio: AudioFacts?
  /// Streams that are not used, by index, and what they are.
  package var unusedStreams: [String]

  package init(
    container: ContainerName, bytes: Int64, duration: Double?, video: VideoFacts, audio: AudioFacts?,
    unusedStreams: [String]
  ) {
    self.container = container
    self.bytes = bytes
    self.duration = duration
    self.video = video
    self.audio = audio
    self.unusedStreams = unusedStreams
  }
}
