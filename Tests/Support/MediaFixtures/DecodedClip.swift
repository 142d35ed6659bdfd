package import AV
package import Kernels
package import Platform

/// A video read back: what its container says, its pictures one by one, and its sound.
package final class DecodedClip {
  /// What the container says of each stream.
  package let streams: [StreamInfo]
  /// In seconds, as the container says.
  package let duration: Double
  private let file: OpenFile

  package init(_ file: OpenFile) throws {
    self.file = file
    let demuxer = try Self.open(file)
    streams = demuxer.streams
    duration = demuxer.duration ?? 0
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

  /// Decodes the pictures as they are coded; each is valid during its call.
  package func forEachPicture(_ use: (_ picture: ImagePlanes, _ seconds: Double) throws -> Void) throws {
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

  /// The values at a place of the first picture, given in shares of width and height.
  package func firstPicture(atX x: Double, y: Double) throws -> (y: UInt8, u: UInt8, v: UInt8)? {
    var found: (y: UInt8, u: UInt8, v: UInt8)?
    try forEachPicture { picture, _ in
      guard found == nil else { return }
      let (column, row) = (Int(x * Double(picture.width - 1)), Int(y * Double(picture.height - 1)))
      found = (picture.y[column, row], picture.u[column / 2, row / 2], picture.v[column / 2, row / 2])
    }
    return found
  }

  /// Decodes the sound's first channel.
  package func sound() throws -> DecodedAudio? {
    guard let stream = stream(.audio) else { return nil }
    var sound = DecodedAudio(sampleRate: stream.sampleRate)
    try decode(stream) { frame, seconds in
      guard let samples = frame.samples(ofChannel: 0) else { return }
      sound.append(samples, at: seconds)
    }
    return sound
  }
}
