internal import AV
internal import Platform

/// The pictures of a clip one after another, decoded on the calling thread.
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
      throw BenchError("\(path) has no pictures")
    }
    stream = video.index
    demuxer.select([stream])
    decoder = try Decoder(stream: stream, of: demuxer, limits: DecoderLimits(codecs: ["h264"], pixels: 1 << 23))
    frame = try Frame()
    packet = try Packet()
  }

  /// Lends each picture, to the end.
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
