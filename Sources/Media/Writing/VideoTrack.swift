import AV
import Model

/// The encoded pictures of an output, one for each slot of its grid.
final class VideoTrack {
  private let output: OutputFile
  private let encoder: VideoEncoder
  private let packet: Packet
  private let stream: Int
  /// The slots written so far.
  private(set) var slots = 0

  /// Adds a stream to an output that is not started yet.
  init(_ video: Definition.VideoEncoding, size: Size, grid: TimeGrid, output: OutputFile) throws(Stop) {
    let settings = VideoEncoderSettings(
      encoder: "libx264",
      options: ["preset": video.preset, "crf": "\(video.crf)", "x264-params": video.x264Parameters],
      profile: "high", width: size.width, height: size.height,
      timeBase: grid.timeBase, frameRate: Rational(Int32(grid.rate), 1))
    self.output = output
    encoder = try Stop.wrap { () throws(AVError) in try VideoEncoder(settings) }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
    do { stream = try output.muxer.addStream(of: encoder) } catch { throw Stop(error) }
  }

  /// Encodes the picture of the next slot; its memory is free again afterwards.
  func encode(_ frame: borrowing Frame) throws(Stop) {
    frame.pts = Int64(slots)
    slots += 1
    do { try encoder.send(frame) } catch { throw Stop(error) }
    try writePackets()
  }

  /// Encodes what the encoder held back.
  func finish() throws(Stop) {
    do { try encoder.finish() } catch { throw Stop(error) }
    try writePackets()
  }

  private func writePackets() throws(Stop) {
    while try receive() == .output {
      // The encoder leaves it open; the last picture would have no length.
      packet.duration = 1
      try output.write(packet, to: stream, timeBase: encoder.timeBase)
    }
  }

  private func receive() throws(Stop) -> Received {
    do { return try encoder.receive(into: packet) } catch { throw Stop(error) }
  }
}
