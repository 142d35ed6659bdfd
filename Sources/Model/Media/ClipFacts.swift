/// What a probe found in a clip's headers; nothing here has been proven by decoding.
package struct ClipFacts: Codable, Sendable, Hashable {
  package var container: ContainerName
  package var bytes: Int64
  /// In seconds, as the container says.
  package var duration: Double?
  /// When it was recorded, in seconds since 1970, to the second; nil where it does not say.
  package var recorded: Double?
  package var video: VideoFacts
  /// The first audio stream that can be decoded.
  package var audio: AudioFacts?
  /// What gives away place, device or person.
  package var identifying: [IdentifyingMetadata]
  /// Streams that are not used, by index, and what they are.
  package var unusedStreams: [String]

  package init(
    container: ContainerName, bytes: Int64, duration: Double?, recorded: Double? = nil,
    video: VideoFacts, audio: AudioFacts?, identifying: [IdentifyingMetadata] = [], unusedStreams: [String]
  ) {
    self.container = container
    self.bytes = bytes
    self.duration = duration
    self.recorded = recorded
    self.video = video
    self.audio = audio
    self.identifying = identifying
    self.unusedStreams = unusedStreams
  }
}
