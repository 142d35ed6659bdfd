/// What a probe found of a video stream.
package struct VideoFacts: Codable, Sendable, Hashable {
  /// The stream's index in the file.
  package var stream: Int
  /// libav's name of the codec, `h264`.
  package var codec: String
  /// How the container names the format of the samples, `avc1`.
  package var tag: String
  /// libav's name of the profile, `High`.
  package var profile: String?
  /// libav's name of the pixel format, `yuv420p`.
  package var pixelFormat: String
  /// In samples, as coded.
  package var coded: Size
  /// The width of a sample divided by its height.
  package var sampleAspectRatio: Double
  package var transform: Transform
  /// The part of a coded picture that is meant to be shown, in samples; nil: all of it.
  package var cleanAperture: Rectangle?
  /// In square pixels, upright.
  package var display: Size
  /// The average, in frames a second; nil when the container does not say.
  package var framesPerSecond: Double?
  package var color: ColorFacts
  package var dynamicRange: DynamicRange
  /// The profile of Dolby Vision whose base layer this is; nil without.
  package var dolbyVisionProfile: Int?
  /// Whether its frames consist of two fields, lines of two moments; nil: they do not.
  package var isInterlaced: Bool?
  /// When the edit list of its track ends, in seconds by the file's clock; nil without one.
  package var editEnd: Double?
  /// When its edit list lets a frame stand still, in seconds by the file's clock; nil: never.
  package var dwells: [ClosedSeconds]?
  /// Why its frames cannot be copied into another file as they are; nil where they can, or where the length does not matter.
  package var copyObstacle: String?

  package init(
    stream: Int, codec: String, tag: String = "avc1", profile: String?, pixelFormat: String, coded: Size,
    sampleAspectRatio: Double,
    transform: Transform, cleanAperture: Rectangle? = nil, display: Size, framesPerSecond: Double?, color: ColorFacts,
    dynamicRange: DynamicRange = .standard, dolbyVisionProfile: Int? = nil, isInterlaced: Bool? = nil,
    editEnd: Double? = nil, dwells: [ClosedSeconds]? = nil
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
  }
}

extension VideoFacts {
  // Times are rounded to ticks of the movie and of the media.
  private static let tolerance = 0.002

  /// Whether a frame that begins at a time is not shown, since the one before it stands still.
  package func isHeld(at seconds: Double) -> Bool {
    dwells?.contains { $0.shortest + Self.tolerance < seconds && seconds < $0.longest - Self.tolerance } ?? false
  }
}
