import AV
import Model

/// An input's sound as it came, cut to the output's time at the packets' borders.
///
/// A packet of AAC is only right after the one before it: those that are needed for the first audible one are kept with
/// times before zero, which the edit list hides, so that sound and picture stay together to the sample.
final class CopiedAudio: AudioTrack {
  private let output: OutputFile
  private let source: Int
  private let stream: Int
  private let timeBase: Rational
  /// The output's beginning, and the output's end after it, in ticks of the sound.
  private let origin: Int64
  private let end: Int64?
  private let packet: Packet
  private var last = Int64.min
  private var lastDuration: Int64 = 1

  init(
    of reader: ClipReader, stream source: Int, from start: Double, until seconds: Double?, output: OutputFile
  ) throws(Stop) {
    self.source = source
    self.output = output
    let timeBase = reader.demuxer.streams[source].timeBase
    self.timeBase = timeBase
    origin = timeBase.rescale(reader.origin, from: reader.timeBase) + Self.ticks(start, timeBase)
    end = seconds.map { Self.ticks($0, timeBase) }
    do { stream = try output.muxer.addStream(copying: source, of: reader.demuxer) } catch { throw Stop(error) }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
  }

  func take(_ packet: borrowing Packet) throws(Stop) {
    guard packet.stream == source, let pts = packet.pts ?? packet.dts else { return }
    let start = pts - origin
    // The two packets before zero cover the priming of every encoder in use (1024 and 2112 samples).
    guard start + 3 * packet.duration > 0 else { return }
    if let end, start >= end { return }
    // What comes twice is heard once.
    guard start > last else { return }
    last = start
    do { try self.packet.reference(packet) } catch { throw Stop(error) }
    // libav leaves it open for the last sample of a track that begins late.
    if self.packet.duration <= 0 { self.packet.duration = lastDuration }
    lastDuration = self.packet.duration
    self.packet.shift(by: -origin)
    try output.write(self.packet, to: stream, timeBase: timeBase)
  }

  func finish() throws(Stop) {}

  private static func ticks(_ seconds: Double, _ timeBase: Rational) -> Int64 {
    timeBase.rescale(Int64(seconds * 1e6), from: Rational(1, 1_000_000))
  }
}
