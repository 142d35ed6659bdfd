package import AV

/// A clip for tests: one flat colour, a counter in every picture, a tone in its sound, and whatever oddity is asked for.
package struct MarkedClip: Sendable {
  /// What kind of pictures are coded.
  package enum Codec: Hashable, Sendable {
    case h264, hevc, hevc10
  }

  /// Its sound.
  package struct Tone: Sendable {
    /// In hertz.
    package var frequency: Double
    package var sampleRate: Int
    package var channels: Int
    /// When the sound begins after the pictures, in seconds.
    package var delay: Double
    /// Nil: the sine. Otherwise bursts of noise, as a room that several microphones hear: when this one began to listen,
    /// in seconds, and which room it is.
    package var room: (began: Double, seed: UInt64)?
    /// The loudest sample, 1 for full scale.
    package var level: Double = 0.4
    /// By libav's name; `pcm_f32le` is for one channel and for QuickTime files.
    package var encoder = "aac"

    package init(_ frequency: Double, sampleRate: Int = 48_000, channels: Int = 2, delay: Double = 0) {
      self.frequency = frequency
      self.sampleRate = sampleRate
      self.channels = channels
      self.delay = delay
    }
  }

  /// The colour that fills the picture.
  package var color: MarkColor
  /// Upright, in pixels.
  package var width: Int
  package var height: Int
  /// When each picture is shown, in seconds.
  package var times: [Double]
  /// How long all of them last, in seconds.
  package var seconds: Double
  package var codec: Codec
  /// Nil: no sound.
  package var tone: Tone?
  /// A second stream of sound.
  package var secondTone: Tone?
  /// Of the file.
  package var format: Muxer.Format = .mp4
  /// How the camera laid the upright picture into the file.
  package var turn: CodedTurn
  /// What the counter shows first.
  package var firstNumber = 0
  /// Grey stripes from left to right instead of colour and counter: 10-bit luma codes, for `hevc10`.
  package var stripes: [UInt16]?
  /// How its numbers mean colours, where that is not BT.709.
  package var tags: ColorDescription?
  /// From this picture on the counter stands still.
  package var frozenFrom: Int?
  /// Whether it has pictures at all.
  package var hasVideo = true
  /// Whether pictures lean on later ones too, and are coded in another order than they are shown.
  package var isReordered = false
  /// Whether each frame is two fields: a bar moves by `fieldStep` pixels from one to the next. H.264 alone.
  package var isInterlaced = false
  /// So many columns on the left of the coded frame are white, and cropped by the bitstream. H.264 alone.
  package var croppedColumns = 0
  /// Further parameters of x264.
  package var x264: String?
  /// Whether it is cut out of a longer one inside an open GOP: two B frames that lean on what was cut off come first,
  /// then the I frame with which its packets begin.
  package var beginsWithOpenGOP = false
  /// Whether its numbers use the full range.
  package var isFullRange = false
  /// Samples are wider than high by this.
  package var sampleAspectRatio = Rational(1, 1)

  /// A clip of constant rate.
  package init(
    _ color: MarkColor, width: Int = 270, height: Int = 480, seconds: Double = 5, framesPerSecond: Double = 30,
    codec: Codec = .h264, tone: Tone? = nil, turn: CodedTurn = .upright
  ) {
    let count = Int((seconds * framesPerSecond).rounded())
    self.init(
      color, width: width, height: height, times: (0..<count).map { Double($0) / framesPerSecond }, seconds: seconds,
      codec: codec, tone: tone, turn: turn)
  }

  /// A clip whose pictures are shown at any times.
  package init(
    _ color: MarkColor, width: Int = 270, height: Int = 480, times: [Double], seconds: Double, codec: Codec = .h264,
    tone: Tone? = nil, turn: CodedTurn = .upright
  ) {
    self.color = color
    self.width = width
    self.height = height
    self.times = times
    self.seconds = seconds
    self.codec = codec
    self.tone = tone
    self.turn = turn
  }
}
