package import AV
package import Kernels
internal import Platform

/// Writes a clip as phones do: H.264 and AAC in MP4, with the index in front.
package struct ClipWriter: ~Copyable {
  private let settings: ClipSettings
  private let samples: StereoAudio
  private let muxer: Muxer
  private let videoEncoder: VideoEncoder
  private let audioEncoder: AudioEncoder
  private let videoStream: Int
  private let audioStream: Int
  private let frame: Frame
  private let packet: Packet
  private var frameCount = 0
  private var sampleCount = 0

  /// Creates the file, replacing an existing one, and opens both encoders.
  package init(path: String, settings: ClipSettings, audio: StereoAudio) throws {
    let coded = settings.coding.size(width: settings.width, height: settings.height)
    let rate = Int32(settings.frameRate)
    let videoEncoder = try VideoEncoder(
      VideoEncoderSettings(
        encoder: "libx264", options: settings.videoOptions, profile: "high", width: coded.width, height: coded.height,
        timeBase: Rational(1, rate), frameRate: Rational(rate, 1)))
    let audioEncoder = try AudioEncoder(sampleRate: audio.sampleRate, channels: 2, bitRate: settings.audioBitRate)
    let muxer = try Muxer(writing: OpenFile(Descriptor(writing: path, replacing: true)))
    let frame = try Frame(width: coded.width, height: coded.height, format: .yuv420p)
    let packet = try Packet()
    let videoStream = try muxer.addStream(of: videoEncoder, displayMatrix: settings.displayMatrix)
    let audioStream = try muxer.addStream(of: audioEncoder)
    try muxer.start()
    self.videoStream = videoStream
    self.audioStream = audioStream
    self.settings = settings
    samples = audio
    self.muxer = muxer
    self.videoEncoder = videoEncoder
    self.audioEncoder = audioEncoder
    self.frame = frame
    self.packet = packet
  }

  /// Appends a frame, given as the viewer sees it, and the audio of the same time.
  package mutating func write(_ image: ImagePlanes) throws(AVError) {
    try frame.makeWritable()
    planes(of: frame).copy(from: image, orientation: settings.coding)
    frame.pts = Int64(frameCount)
    frameCount += 1
    try videoEncoder.send(frame)
    try drainVideo()
    try writeAudio(upTo: frameCount * samples.sampleRate / settings.frameRate)
  }

  /// Writes the rest of the audio and the index.
  package consuming func finish() throws(AVError) {
    try writeAudio(upTo: .max)
    try videoEncoder.finish()
    try drainVideo()
    try audioEncoder.finish()
    try drainAudio()
    try muxer.finish()
  }

  private func planes(of frame: borrowing Frame) -> MutableImagePlanes {
    func plane(_ index: Int, divisor: Int) -> MutablePlane {
      guard let plane = frame.plane(index) else { preconditionFailure("a frame of yuv420p has three planes") }
      return MutablePlane(
        base: plane.base, stride: plane.stride, width: frame.width / divisor, height: frame.height / divisor)
    }
    return MutableImagePlanes(y: plane(0, divisor: 1), u: plane(1, divisor: 2), v: plane(2, divisor: 2))
  }

  private mutating func writeAudio(upTo end: Int) throws(AVError) {
    while sampleCount < min(end, samples.left.count) {
      let range = sampleCount..<min(sampleCount + audioEncoder.frameSize, samples.left.count)
      let frame = try Frame(sampleCapacity: range.count, sampleRate: samples.sampleRate, channels: 2)
      for (channel, source) in [samples.left, samples.right].enumerated() {
        guard let target = frame.samples(ofChannel: channel) else { preconditionFailure("the frame is not stereo") }
        _ = target.update(fromContentsOf: source[range])
      }
      frame.pts = Int64(sampleCount)
      sampleCount = range.upperBound
      try audioEncoder.send(frame)
      try drainAudio()
    }
  }

  private func drainVideo() throws(AVError) {
    while try videoEncoder.receive(into: packet) == .output {
      try muxer.write(packet, to: videoStream, timeBase: videoEncoder.timeBase)
    }
  }

  private func drainAudio() throws(AVError) {
    while try audioEncoder.receive(into: packet) == .output {
      try muxer.write(packet, to: audioStream, timeBase: audioEncoder.timeBase)
    }
  }
}

/// The encoding settings of a clip.
package struct ClipSettings: Sendable {
  /// The width in pixels as the viewer sees it.
  package let width: Int
  /// The height in pixels as the viewer sees it.
  package let height: Int
  /// Frames per second.
  package let frameRate: Int
  /// The clockwise quarter turns of the display matrix; phones that film upright use 1.
  package let quarterTurns: Int
  /// The options of libx264 by name: `preset`, `crf`, `x264-params`.
  package let videoOptions: [String: String]
  /// The audio bit rate in bits per second.
  package let audioBitRate: Int

  package init(
    width: Int, height: Int, frameRate: Int, quarterTurns: Int = 0, videoOptions: [String: String],
    audioBitRate: Int = 128_000
  ) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.quarterTurns = quarterTurns
    self.videoOptions = videoOptions
    self.audioBitRate = audioBitRate
  }

  /// The transform from the displayed to the coded frame.
  var coding: Orientation { Orientation(quarterTurns: -quarterTurns) }

  /// The nine numbers of the track's matrix (ISO/IEC 14496-12, 8.3.2): 16.16 fixed point, 2.30 in the last column.
  var displayMatrix: [Int32]? {
    let one: Int32 = 1 << 16
    let (right, bottom) = (Int32(width) << 16, Int32(height) << 16)
    // The translation moves the rotated frame back into the visible area.
    switch coding.quarterTurns {
    case 3: return [0, one, 0, -one, 0, 0, right, 0, 1 << 30]
    case 2: return [-one, 0, 0, 0, -one, 0, right, bottom, 1 << 30]
    case 1: return [0, -one, 0, one, 0, 0, 0, bottom, 1 << 30]
    default: return nil
    }
  }
}

/// Two channels of audio.
package struct StereoAudio: Sendable {
  /// In hertz.
  package let sampleRate: Int
  /// The left channel, -1 to 1.
  package let left: [Float]
  /// The right channel, -1 to 1, as long as the left one.
  package let right: [Float]

  /// Computes the samples: `sample` returns both channels at a time in seconds.
  package init(seconds: Double, sampleRate: Int = 48_000, _ sample: (_ time: Float) -> (left: Float, right: Float)) {
    let count = Int((seconds * Double(sampleRate)).rounded())
    let samples = (0..<count).map { sample(Float($0) / Float(sampleRate)) }
    self.sampleRate = sampleRate
    left = samples.map(\.left)
    right = samples.map(\.right)
  }
}
