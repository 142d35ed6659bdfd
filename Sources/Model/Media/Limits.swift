/// The limits of inputs, which are checked before the work that they bound.
package struct Limits: Codable, Sendable, Hashable {
  /// The allowed durations by decoded time; nil: any.
  package var seconds: SecondsRange?
  /// The longest time that is used of a clip, from its start; nil: all of it.
  package var trimSeconds: Double?
  /// The maximum size of one file.
  package var bytes: Int64
  /// The maximum size of a frame, coded width times height.
  package var pixels: Int
  package var framesPerSecond: Double
  /// The maximum number of streams in one file.
  package var streams: Int
  package var containers: [ContainerName]
  /// FFmpeg's names, a subset of `AllowedCodecs.video`.
  package var videoCodecs: [String]
  /// FFmpeg's names, a subset of `AllowedCodecs.audio` and `AllowedCodecs.namedAudio`; nil: all of the former.
  package var audioCodecs: [String]?
  /// The maximum difference between the durations of the inputs.
  package var differenceSeconds: Double

  package init(
    seconds: SecondsRange?, bytes: Int64, pixels: Int, framesPerSecond: Double, streams: Int,
    containers: [ContainerName], videoCodecs: [String], audioCodecs: [String]? = nil, differenceSeconds: Double,
    trimSeconds: Double? = nil
  ) {
    self.seconds = seconds
    self.trimSeconds = trimSeconds
    self.bytes = bytes
    self.pixels = pixels
    self.framesPerSecond = framesPerSecond
    self.streams = streams
    self.containers = containers
    self.videoCodecs = videoCodecs
    self.audioCodecs = audioCodecs
    self.differenceSeconds = differenceSeconds
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    seconds = try container.decodeIfPresent(SecondsRange.self, forKey: .seconds)
    trimSeconds = try container.decodeIfPresent(Double.self, forKey: .trimSeconds)
    bytes = try container.decode(Int64.self, forKey: .bytes)
    pixels = try container.decode(Int.self, forKey: .pixels)
    framesPerSecond = try container.decode(Double.self, forKey: .framesPerSecond)
    streams = try container.decode(Int.self, forKey: .streams)
    containers = try container.decode([ContainerName].self, forKey: .containers)
    videoCodecs = try container.decode([String].self, forKey: .videoCodecs)
    audioCodecs = try container.decodeIfPresent([String].self, forKey: .audioCodecs)
    differenceSeconds = try container.decode(Double.self, forKey: .differenceSeconds)
    if let trimSeconds, trimSeconds <= 0 || seconds?.contains(trimSeconds) != true {
      throw DecodingError.dataCorruptedError(
        forKey: .trimSeconds, in: container, debugDescription: "expected a time in the range of 'seconds'")
    }
    for (key, listed, allowed) in [
      (CodingKeys.videoCodecs, videoCodecs, AllowedCodecs.video),
      (.audioCodecs, audioCodecs ?? [], AllowedCodecs.audio + AllowedCodecs.namedAudio),
    ] {
      guard let unknown = listed.first(where: { !allowed.contains($0) }) else { continue }
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container,
        debugDescription: "unsupported codec '\(unknown)'; supported are \(allowed.joined(separator: ", "))")
    }
  }
}

/// The codecs that a definition may allow, by FFmpeg's names.
///
/// No other decoder is opened: each one adds attack surface for hostile files.
package enum AllowedCodecs {
  /// The codecs that phones and browsers record or used to record.
  package static let video = ["h264", "hevc", "mpeg4", "h263", "vp9", "vp8", "av1"]

  /// The codecs of sound that a definition allows if it names none.
  package static let audio = [
    "aac", "alac", "mp3", "amr_nb", "amr_wb", "ac3", "eac3", "opus", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be",
    "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_mulaw", "pcm_alaw",
  ]

  /// The codecs of sound that a definition allows only by name.
  package static let namedAudio = ["vorbis"]
}

/// The family of a container, by its brand or its document type.
package enum ContainerName: String, NamedCases, Sendable {
  case mov
  case mp4
  case threeGP = "3gp"
  case webM = "webm"

  /// The media type (RFC 6838, RFC 6381).
  package var mediaType: String {
    switch self {
    case .mov: "video/quicktime"
    case .mp4: "video/mp4"
    case .threeGP: "video/3gpp"
    case .webM: "video/webm"
    }
  }
}

/// A closed range of durations in seconds; `[4.5, 5.5]` in JSON.
package struct SecondsRange: Codable, Sendable, Hashable {
  package var shortest: Double
  package var longest: Double

  package init(shortest: Double, longest: Double) {
    self.shortest = shortest
    self.longest = longest
  }

  /// Whether a duration lies in the range.
  package func contains(_ seconds: Double) -> Bool { shortest <= seconds && seconds <= longest }

  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    shortest = try container.decode(Double.self)
    longest = try container.decode(Double.self)
    guard container.isAtEnd, shortest >= 0, shortest <= longest else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "expected [min, max] in seconds with 0 <= min <= max")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(shortest)
    try container.encode(longest)
  }
}
