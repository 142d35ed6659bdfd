internal import AV
internal import Kernels
internal import Platform

/// Decodes the frames of a clip in order, on the calling thread.
final class ClipDecoder {
  private let demuxer: Demuxer
  private let decoder: Decoder
  private let stream: Int
  private let frame: Frame
  private let packet: Packet

  init(_ path: String) throws {
    demuxer = try Demuxer(
      reading: OpenFile(Descriptor(reading: path)), limits: DemuxerLimits(streams: 4, codecs: ["h264"]),
      interrupt: Interrupt())
    guard let video = demuxer.streams.first(where: { $0.kind == .video }) else {
      throw BenchError("\(path) has no video stream")
    }
    stream = video.index
    demuxer.select([stream])
    decoder = try Decoder(stream: stream, of: demuxer, limits: DecoderLimits(codecs: ["h264"], pixels: 1 << 23))
    frame = try Frame()
    packet = try Packet()
  }

  /// Calls `body` with each frame, which is valid during the call.
  func forEach(_ body: (borrowing Frame) throws -> Void) throws {
    while true {
      switch try decoder.receive(into: frame) {
      case .output: try body(frame)
      case .needsInput: try feed()
      case .ended: return
      }
    }
  }

  private func feed() throws {
    while try demuxer.read(into: packet) {
      if packet.stream == stream { return try decoder.send(packet) }
    }
    try decoder.finish()
  }
}

extension Frame {
  /// The pixels of an 8-bit 4:2:0 frame; valid until the frame is reused or freed.
  var imagePlanes: MutableImagePlanes {
    guard format == .yuv420p, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("the benchmark's clips have 8 bits per sample")
    }
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    return MutableImagePlanes(
      y: MutablePlane(base: y.base, stride: y.stride, width: width, height: height),
      u: MutablePlane(base: u.base, stride: u.stride, width: half.width, height: half.height),
      v: MutablePlane(base: v.base, stride: v.stride, width: half.width, height: half.height))
  }
}
