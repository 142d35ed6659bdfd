/// How pictures are encoded.
package struct VideoEncoderSettings: Hashable, Sendable {
  /// libav's name of an encoder.
  package var encoder: String
  /// The encoder's own options by name: `preset`, `crf`, `x264-params`.
  package var options: [String: String]
  /// libav's name of the profile in the encoder's options; nil: the encoder's choice.
  package var profile: String?
  package var width: Int
  package var height: Int
  package var format: PixelFormat
  /// One tick of the frames' times.
  package var timeBase: Rational
  /// Pictures a second; the encoder plans its rate by it.
  package var frameRate: Rational
  package var color: ColorDescription
  /// The width of a sample divided by its height.
  package var sampleAspectRatio: Rational

  package init(
    encoder: String, options: [String: String], profile: String? = nil, width: Int, height: Int,
    format: PixelFormat = .yuv420p, timeBase: Rational, frameRate: Rational, color: ColorDescription = .bt709,
    sampleAspectRatio: Rational = Rational(1, 1)
  ) {
    self.encoder = encoder
    self.options = options
    self.profile = profile
    self.width = width
    self.height = height
    self.format = format
    self.timeBase = timeBase
    self.frameRate = frameRate
    self.color = color
    self.sampleAspectRatio = sampleAspectRatio
  }
}
