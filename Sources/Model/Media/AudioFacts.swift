/// What a probe found of an audio stream.
package struct AudioFacts: Codable, Sendable, Hashable {
  /// The stream's index in the file.
  package var stream: Int
  /// libav's name of the codec, `aac`.
  package var codec: String
  /// libav's name of the profile, `LC`.
  package var profile: String?
  /// In hertz.
  package var sampleRate: Int
  package var channels: Int
  /// Why its packets cannot be copied into another file as they are; nil where they can, as far as its headers tell.
  package var copyObstacle: String?

  package init(
    stream: Int, codec: String, profile: String?, sampleRate: Int, channels: Int, copyObstacle: String? = nil
  ) {
    self.stream = stream
    self.codec = codec
    self.profile = profile
    self.sampleRate = sampleRate
    self.channels = channels
    self.copyObstacle = copyObstacle
  }
}
