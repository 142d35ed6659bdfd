/// The properties of a video stream.
package struct VideoFacts: Codable, Sendable, Hashable {
  /// The stream's index in the file.
  package var stream: Int
  /// FFmpeg's name of the codec, `h264`.
  package var codec: String
  /// The type of the sample entry, `avc1`.
  package var tag: String
  /// FFmpeg's name of the profile, `High`.
  package var profile: String?
  /// FFmpeg's name of the pixel format, `yuv420p`.
  package var pixelFormat: String
  /// The coded size in samples.
  package var coded: Size
  /// The width of a sample divided by its height.
  package var sampleAspectRatio: Double
  package var transform: Transform
  /// The part of a coded frame that is displayed, in samples; nil: all of it.
  package var cleanAperture: Rectangle?
  /// The displayed size in square pixels, upright.
  package var display: Size
  /// The average frame rate; nil if the container has none.
  package var framesPerSecond: Double?
  package var color: ColorFacts
  package var dynamicRange: DynamicRange
  /// The profile of Dolby Vision whose base layer the stream is; nil: not Dolby Vision.
  package var dolbyVisionProfile: Int?
  /// Whether the frames are interlaced; nil: they are progressive.
  package var isInterlaced: Bool?
  /// The end of the track's edit list, in seconds of the presentation; nil without one.
  package var editEnd: Double?
  /// The ranges in which the edit list repeats a frame, in seconds of the presentation; nil: none.
  package var dwells: [SecondsRange]?
  /// The reason why its packets cannot be copied unchanged; nil if they can, or if the clip is not limited in length.
  package var copyObstacle: String?
  /// What a copy of it asks of a decoder; nil if it is not H.264, if its parameter sets cannot be read, or if the clip is not
  /// limited in length.
  package var demand: DecoderDemand?

  package init(
    stream: Int, codec: String, tag: String = "avc1", profile: String?, pixelFormat: String, coded: Size,
    sampleAspectRatio: Double,
    transform: Transform, cleanAperture: Rectangle? = nil, display: Size, framesPerSecond: Double?, color: ColorFacts,
    dynamicRange: DynamicRange = .standard, dolbyVisionProfile: Int? = nil, isInterlaced: Bool? = nil,
    editEnd: Double? = nil, dwells: [SecondsRange]? = nil, demand: DecoderDemand? = nil
  ) {
    self.stream = stream
    self.codec = codec
    self.tag = tag
    self.profile = profile
    self.pixelFormat = pixelFormat
    self.coded = coded
    self.sampleAspectRatio = sampleAspectRatio
    self.transform = transform
    self.cleanAperture = cleanAperture
    self.display = display
    self.framesPerSecond = framesPerSecond
    self.color = color
    self.dynamicRange = dynamicRange
    self.dolbyVisionProfile = dolbyVisionProfile
    self.isInterlaced = isInterlaced
    self.editEnd = editEnd
    self.dwells = dwells
    self.demand = demand
  }
}

/// What a stream of H.264 asks of a decoder.
package struct DecoderDemand: Codable, Sendable, Hashable {
  /// The number of the profile (ITU-T H.264, A.2): 100 is High.
  package var profile: Int
  /// The level that its parameter sets name, or the lowest that allows what it has, whichever is greater (table A-1).
  package var level: Double
  /// The mean bit rate.
  package var bitsPerSecond: Int

  package init(profile: Int, level: Double, bitsPerSecond: Int) {
    self.profile = profile
    self.level = level
    self.bitsPerSecond = bitsPerSecond
  }
}

extension VideoFacts {
  // In seconds: times are rounded to ticks of the movie and of the media.
  private static let tolerance = 0.002

  /// Whether a frame that begins at a time is not shown, because the edit list repeats the one before it.
  package func isRepeated(at seconds: Double) -> Bool {
    dwells?.contains { $0.shortest + Self.tolerance < seconds && seconds < $0.longest - Self.tolerance } ?? false
  }
}

/// The colour description of a video stream (ITU-T H.273) by FFmpeg's names; `unknown` if the stream has none.
package struct ColorFacts: Codable, Sendable, Hashable {
  /// `tv` or `pc`.
  package var range: String
  package var matrix: String
  package var primaries: String
  package var transfer: String

  package init(range: String, matrix: String, primaries: String, transfer: String) {
    self.range = range
    self.matrix = matrix
    self.primaries = primaries
    self.transfer = transfer
  }
}

/// The dynamic range, by the transfer function (ITU-R BT.2100).
package enum DynamicRange: String, Codable, Sendable {
  case standard = "sdr"
  /// Hybrid log-gamma.
  case hybridLogGamma = "hlg"
  /// Perceptual quantizer.
  case perceptualQuantizer = "pq"
}

extension DynamicRange {
  /// The range of a transfer function by FFmpeg's name; the bit depth does not determine it.
  package init(transfer: String) {
    switch transfer {
    case "arib-std-b67": self = .hybridLogGamma
    case "smpte2084": self = .perceptualQuantizer
    default: self = .standard
    }
  }
}
