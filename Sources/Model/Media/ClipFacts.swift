/// The properties of a clip by its headers and first frames, before the clip is decoded.
///
/// Facts are part of a plan, and so of the recipe of its outputs.
package struct ClipFacts: Codable, Sendable, Hashable {
  package var container: ContainerName
  package var bytes: Int64
  /// The duration in seconds by the container.
  package var duration: Double?
  /// The time of recording in seconds since 1970; nil if the file has none.
  package var recorded: Double?
  package var video: VideoFacts
  /// The first decodable audio stream.
  package var audio: AudioFacts?
  /// The codecs of the enabled sound streams if none of them can be decoded; nil if one can, or if there is none.
  package var undecodedSound: [String]?
  /// The metadata about place, device or person.
  package var identifying: [IdentifyingMetadata]
  /// The streams that are not used: index and type.
  package var unusedStreams: [String]

  package init(
    container: ContainerName, bytes: Int64, duration: Double?, recorded: Double? = nil,
    video: VideoFacts, audio: AudioFacts?, undecodedSound: [String]? = nil,
    identifying: [IdentifyingMetadata] = [], unusedStreams: [String]
  ) {
    self.container = container
    self.bytes = bytes
    self.duration = duration
    self.recorded = recorded
    self.video = video
    self.audio = audio
    self.undecodedSound = undecodedSound
    self.identifying = identifying
    self.unusedStreams = unusedStreams
  }
}

/// The properties of an audio stream.
package struct AudioFacts: Codable, Sendable, Hashable {
  /// The stream's index in the file.
  package var stream: Int
  /// FFmpeg's name of the codec, `aac`.
  package var codec: String
  /// FFmpeg's name of the profile, `LC`.
  package var profile: String?
  /// The sample rate in hertz.
  package var sampleRate: Int
  package var channels: Int
  /// The reason why its packets cannot be copied unchanged; nil if the headers show none.
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

/// An entry of metadata about place, device or person: its name, never its value.
package struct IdentifyingMetadata: Codable, Sendable, Hashable {
  /// The subject of the entry.
  package enum Kind: String, Codable, Sendable {
    case place
    case device
    case person
    /// The name does not show the subject: descriptions, proprietary data.
    case other
  }

  package var kind: Kind
  /// The name of the entry in the file: `©xyz`, `com.apple.quicktime.model`.
  package var key: String

  package init(kind: Kind, key: String) {
    self.kind = kind
    self.key = key
  }
}
