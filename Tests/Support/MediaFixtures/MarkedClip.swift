package import AV
import BoxTesting
import Kernels
package import Platform

/// A synthetic clip: a flat colour with a counter in every frame, and a tone.
package struct MarkedClip: Sendable {
  /// The video codec and its bit depth.
  package enum Codec: Hashable, Sendable {
    case h264, hevc, hevc10, vp8, vp9, av1
  }

  /// The audio of a clip.
  package struct Tone: Sendable {
    /// In hertz.
    package var frequency: Double
    package var sampleRate: Int
    package var channels: Int
    /// The delay of the audio after the video in seconds.
    package var delay: Double
    /// Bursts of noise instead of a sine: clips with the same seed record the same noise, each from its own start time
    /// in seconds.
    package var room: (start: Double, seed: UInt64)?
    /// The peak amplitude, 1 for full scale.
    package var level: Double = 0.4
    /// Whether the wave is cut off to a square, as of an overdriven microphone.
    package var isSquare = false
    /// Whether the second channel is the first one with the opposite sign.
    package var isOpposite = false
    /// In bits per second.
    package var bitRate = 96_000
    /// FFmpeg's name of the encoder; `pcm_f32le` is for one channel in QuickTime files, `libopus` for one in WebM files.
    package var encoder = "aac"

    package init(_ frequency: Double, sampleRate: Int = 48_000, channels: Int = 2, delay: Double = 0) {
      self.frequency = frequency
      self.sampleRate = sampleRate
      self.channels = channels
      self.delay = delay
    }
  }

  /// The colour of the frames.
  package var color: MarkColor
  /// The upright width in pixels.
  package var width: Int
  package var height: Int
  /// The presentation time of each frame in seconds.
  package var times: [Double]
  /// The duration in seconds.
  package var seconds: Double
  package var codec: Codec
  /// The audio; nil for a clip without audio.
  package var tone: Tone?
  /// A second audio stream.
  package var secondTone: Tone?
  package var format: Muxer.Format = .mp4
  /// Whether a WebM is as browsers record it: without index and durations, and with elements of unknown size.
  package var isLive = false
  /// The rotation of the coded frames.
  package var rotation: CodedRotation
  /// The counter of the first frame.
  package var firstNumber = 0
  /// Grey stripes from left to right instead of colour and counter: 10-bit luma codes, for `hevc10`.
  package var stripes: [UInt16]?
  /// Whether each frame is noise, the hardest content for an encoder. For 8 bits.
  package var isNoise = false
  /// The colour description; nil for BT.709.
  package var tags: ColorDescription?
  /// The index of the frame from which on the counter does not change.
  package var frozenFrom: Int?
  package var hasVideo = true
  /// Whether there are B frames, so that coding order and presentation order differ.
  package var isReordered = false
  /// Whether frames are interlaced, with a bar that moves by `fieldStep` pixels per field. Only for H.264.
  package var isInterlaced = false
  /// The number of white columns on the left of the coded frame that the bitstream crops. Only for H.264.
  package var croppedColumns = 0
  /// Further parameters of x264.
  package var x264: String?
  /// Whether the clip starts inside an open GOP of a longer one: its packets start with an I frame, but two B frames
  /// that refer to missing frames are shown before it.
  package var beginsWithOpenGOP = false
  /// Whether the samples use the full range.
  package var isFullRange = false
  /// The width of a pixel divided by its height.
  package var sampleAspectRatio = Rational(1, 1)

  /// Creates a clip with a constant frame rate.
  package init(
    _ color: MarkColor, width: Int = 270, height: Int = 480, seconds: Double = 5, framesPerSecond: Double = 30,
    codec: Codec = .h264, tone: Tone? = nil, rotation: CodedRotation = .upright
  ) {
    let count = Int((seconds * framesPerSecond).rounded())
    self.init(
      color, width: width, height: height, times: (0..<count).map { Double($0) / framesPerSecond }, seconds: seconds,
      codec: codec, tone: tone, rotation: rotation)
  }

  /// Creates a clip with arbitrary presentation times.
  package init(
    _ color: MarkColor, width: Int = 270, height: Int = 480, times: [Double], seconds: Double, codec: Codec = .h264,
    tone: Tone? = nil, rotation: CodedRotation = .upright
  ) {
    self.color = color
    self.width = width
    self.height = height
    self.times = times
    self.seconds = seconds
    self.codec = codec
    self.tone = tone
    self.rotation = rotation
  }
}

extension MarkedClip {
  // The frame durations of all common frame rates are multiples of one tick.
  private static let timeBase = Rational(1, 90_000)

  /// The bytes of clips that were encoded, by their description: many tests have the same ones.
  private static let encoded = Locked<[String: [UInt8]]>([:])

  /// Writes the clip into an unnamed file.
  package func write() throws -> OpenFile {
    let description = String(reflecting: self)
    if let bytes = Self.encoded.withLock({ $0[description] }) { return try TemporaryFile.make(bytes) }
    var bytes = try TemporaryFile.bytes(of: encode())
    if isLive, let tree = ElementTree(bytes) { bytes = tree.live.bytes }
    Self.encoded.withLock { $0[description] = bytes }
    return try TemporaryFile.make(bytes)
  }

  /// A WebM with one channel of Opus, if it has sound.
  package static func webM(
    _ color: MarkColor, _ codec: Codec, seconds: Double = 5, tone: Double? = nil, isLive: Bool = false,
    _ change: (inout MarkedClip) -> Void = { _ in }
  ) -> MarkedClip {
    var clip = MarkedClip(
      color, seconds: seconds, codec: codec, tone: tone.map { Tone($0, channels: 1) })
    clip.tone?.encoder = "libopus"
    clip.format = .webm
    clip.isLive = isLive
    change(&clip)
    return clip
  }

  private func encode() throws -> OpenFile {
    let file = try TemporaryFile.make()
    let muxer = try Muxer(writing: file, format: format)
    let video = hasVideo ? try FrameEncoding(self, timeBase: Self.timeBase, muxer: muxer) : nil
    let audio = try [tone, secondTone].compactMap(\.self).map { try ToneEncoding($0, seconds: seconds, muxer: muxer) }
    try muxer.start()
    if beginsWithOpenGOP { try video?.encodePrecedingFrames(into: muxer) }
    for (index, time) in times.enumerated() where hasVideo {
      try video?.encode(number: firstNumber + min(index, frozenFrom ?? index), at: time, into: muxer)
      for stream in audio { try stream.encode(until: time, into: muxer) }
    }
    try video?.finish(into: muxer)
    for stream in audio {
      try stream.encode(until: seconds, into: muxer)
      try stream.finish(into: muxer)
    }
    try muxer.finish()
    return file
  }
}

/// A flat colour in BT.709 limited range that is recognisable after every conversion.
package enum MarkColor: Hashable, Sendable, CaseIterable {
  case red, blue, green

  /// The 8-bit components.
  var components: (y: UInt8, u: UInt8, v: UInt8) {
    switch self {
    case .red: (63, 102, 240)
    case .blue: (32, 240, 118)
    case .green: (173, 42, 26)
    }
  }

  /// The 8-bit components in full range.
  var fullRangeComponents: (y: UInt8, u: UInt8, v: UInt8) {
    let (y, u, v) = components
    func chroma(_ value: UInt8) -> UInt8 { UInt8(min(255, max(0, (Double(value) - 128) * 255 / 224 + 128)).rounded()) }
    return (UInt8(((Double(y) - 16) * 255 / 219).rounded()), chroma(u), chroma(v))
  }

  /// Returns the colour with chroma near these values; nil if there is none.
  package init?(u: UInt8, v: UInt8) {
    let found = Self.allCases.first { color in
      abs(Int(color.components.u) - Int(u)) < 8 && abs(Int(color.components.v) - Int(v)) < 8
    }
    guard let found else { return nil }
    self = found
  }
}
