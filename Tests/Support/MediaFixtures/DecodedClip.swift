package import AV
import Glibc
package import Kernels
package import Platform

/// A clip that can be decoded: the properties of its streams, its frames and its audio.
package final class DecodedClip {
  package let streams: [StreamInfo]
  /// The duration in seconds that the headers state, of the file or else of its longest stream.
  package let duration: Double
  private let file: OpenFile

  package init(_ file: OpenFile) throws {
    self.file = file
    let demuxer = try Self.open(file)
    streams = demuxer.streams
    duration = demuxer.duration ?? streams.compactMap(\.seconds).max() ?? 0
  }

  /// The first stream of a kind.
  package func stream(_ kind: MediaKind) -> StreamInfo? { streams.first { $0.kind == kind } }

  private static let codecs = ["h264", "hevc", "aac"]

  private static func open(_ file: OpenFile) throws -> Demuxer {
    try Demuxer(reading: file, limits: DemuxerLimits(streams: 16, codecs: codecs), interrupt: Interrupt())
  }

  /// Decodes all frames of a stream.
  private func decode(_ stream: StreamInfo, each: (borrowing Frame, Double) throws -> Void) throws {
    let demuxer = try Self.open(file)
    demuxer.select([stream.index])
    let decoder = try Decoder(
      stream: stream.index, of: demuxer, limits: DecoderLimits(codecs: Self.codecs, pixels: 1 << 24))
    let packet = try Packet()
    let frame = try Frame()
    var isReading = true
    // Ends: with the clip.
    while true {
      switch try decoder.receive(into: frame) {
      case .output: try each(frame, stream.timeBase.seconds(frame.pts ?? 0))
      case .ended: return
      case .needsInput:
        isReading = try isReading && demuxer.read(into: packet)
        if isReading {
          try decoder.send(packet)
          packet.unreference()
        } else {
          try decoder.finish()
        }
      }
    }
  }

  /// Decodes the frames without applying the display matrix; each is valid during its call.
  package func forEachFrame(_ use: (_ frame: ImagePlanes, _ seconds: Double) throws -> Void) throws {
    guard let stream = stream(.video) else { return }
    try decode(stream) { frame, seconds in
      guard let y = frame.plane(0), let u = frame.plane(1), let v = frame.plane(2) else { return }
      let half = (width: (frame.width + 1) / 2, height: (frame.height + 1) / 2)
      try use(
        ImagePlanes(
          y: Plane(base: y.base, stride: y.stride, width: frame.width, height: frame.height),
          u: Plane(base: u.base, stride: u.stride, width: half.width, height: half.height),
          v: Plane(base: v.base, stride: v.stride, width: half.width, height: half.height)), seconds)
    }
  }

  /// Returns a pixel of the first frame, at a position given in fractions of width and height.
  package func firstFrame(atX x: Double, y: Double) throws -> (y: UInt8, u: UInt8, v: UInt8)? {
    var found: (y: UInt8, u: UInt8, v: UInt8)?
    try forEachFrame { frame, _ in
      guard found == nil else { return }
      let (column, row) = (Int(x * Double(frame.width - 1)), Int(y * Double(frame.height - 1)))
      found = (frame.y[column, row], frame.u[column / 2, row / 2], frame.v[column / 2, row / 2])
    }
    return found
  }

  /// Decodes the first audio channel; nil without an audio stream.
  package func audio() throws -> DecodedAudio? {
    guard let stream = stream(.audio) else { return nil }
    var audio = DecodedAudio(sampleRate: stream.sampleRate)
    try decode(stream) { frame, seconds in
      guard let samples = frame.samples(ofChannel: 0) else { return }
      audio.append(samples, at: seconds)
    }
    return audio
  }
}

/// The samples of one audio channel.
package struct DecodedAudio: Sendable {
  /// In hertz.
  package let sampleRate: Int
  /// The time of the first sample in seconds.
  package private(set) var start: Double = 0
  /// The samples, -1 to 1.
  package private(set) var samples: [Float] = []

  init(sampleRate: Int) { self.sampleRate = sampleRate }

  mutating func append(_ more: UnsafeMutableBufferPointer<Float>, at seconds: Double) {
    if samples.isEmpty { start = seconds }
    samples.append(contentsOf: more)
  }

  /// Returns the amplitude of a frequency over all samples, by Goertzel's algorithm (Am. Math. Monthly 65, 1958).
  package func strength(of frequency: Double) -> Double {
    let factor = 2 * cos(2 * Double.pi * frequency / Double(sampleRate))
    var (last, beforeLast) = (0.0, 0.0)
    for sample in samples { (last, beforeLast) = (Double(sample) + factor * last - beforeLast, last) }
    let power = last * last + beforeLast * beforeLast - factor * last * beforeLast
    return 2 * max(0, power).squareRoot() / Double(max(1, samples.count))
  }

  /// Returns the time of the first sample above `level` in seconds; nil if there is none.
  package func onset(above level: Float = 0.1) -> Double? {
    samples.firstIndex { abs($0) > level }.map { start + Double($0) / Double(sampleRate) }
  }
}
