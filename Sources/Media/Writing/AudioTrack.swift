import AV
import Model

/// The audio stream of an output, made from an input's packets as they are read.
protocol AudioTrack: PacketTap {
  /// Writes the buffered audio.
  func finish() throws(RunFailure)
}

/// Makes the audio stream of an output by its plan.
enum AudioTracks {
  /// Adds a stream to each of the containers, which are not started yet.
  ///
  /// - Parameters:
  ///   - gain: what the samples of encoded audio are multiplied by.
  ///   - start: the time of the input at which the output starts, in seconds.
  ///   - seconds: the duration of the output; nil: up to the end of the audio.
  static func track(
    _ mode: AudioPlan.Mode, of reader: ClipReader, gain: Float, from start: Double = 0, until seconds: Double?,
    containers: [ContainerWriter]
  ) throws(RunFailure) -> (any AudioTrack)? {
    guard let facts = reader.plan.facts.audio else { return nil }
    return switch mode {
    case .copy: try CopiedAudio(of: reader, stream: facts.stream, from: start, until: seconds, containers: containers)
    case .encode:
      try EncodedAudio(
        of: reader, stream: facts.stream, gain: gain, from: start, until: seconds, containers: containers)
    }
  }
}

/// Copies the audio packets of an input that belong to the output.
///
/// An AAC packet decodes correctly only after the previous ones: packets that the first audible one needs are copied
/// with timestamps below zero, which the edit list hides, so that audio and video stay in sync to the sample.
final class CopiedAudio: AudioTrack {
  private let source: Int
  private let stream: SharedStream
  private let timeBase: Rational
  /// The start of the output, and its end relative to the start, in ticks of the audio stream.
  private let origin: Int64
  private let end: Int64?
  private let packet: Packet
  private var last = Int64.min
  private var lastDuration: Int64 = 1
  private(set) var isFinished = false

  init(
    of reader: ClipReader, stream source: Int, from start: Double, until seconds: Double?, containers: [ContainerWriter]
  ) throws(RunFailure) {
    self.source = source
    let timeBase = reader.demuxer.streams[source].timeBase
    self.timeBase = timeBase
    origin = timeBase.rescale(reader.origin, from: reader.timeBase) + Self.ticks(start, timeBase)
    end = seconds.map { Self.ticks($0, timeBase) }
    stream = try containers.addStream(copying: source, of: reader.demuxer)
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
  }

  func take(_ packet: borrowing Packet) throws(RunFailure) {
    guard packet.stream == source, let pts = packet.pts ?? packet.dts, !Self.isADTS(packet) else { return }
    let start = pts - origin
    // The two packets before zero cover the priming of every encoder in use (1024 and 2112 samples).
    guard start + 3 * packet.duration > 0 else { return }
    if let end, start >= end {
      isFinished = true
      return
    }
    // Repeated packets are copied once.
    guard start > last else { return }
    last = start
    do { try self.packet.reference(packet) } catch { throw RunFailure(error) }
    // FFmpeg's demuxer sets no duration for the last sample of a track that starts late.
    if self.packet.duration <= 0 { self.packet.duration = lastDuration }
    lastDuration = self.packet.duration
    // The last packet is shown up to the end of the picture: players that go by the longest track would show no frame after it.
    if let end { self.packet.duration = min(self.packet.duration, end - start) }
    self.packet.setTime(start)
    try stream.write(self.packet, timeBase: timeBase)
  }

  func finish() throws(RunFailure) {}

  // A frame of AAC that begins with the syncword of ADTS has no elements (ISO/IEC 14496-3, 4.4.2.1 and 1.A.3.2): it is
  // damaged, and becomes a gap, because strict players refuse the syncword in this container.
  private static func isADTS(_ packet: borrowing Packet) -> Bool {
    var isADTS = false
    packet.withBytes { bytes in isADTS = bytes.count > 1 && bytes[0] == 0xFF && bytes[1] & 0xF6 == 0xF0 }
    return isADTS
  }

  private static func ticks(_ seconds: Double, _ timeBase: Rational) -> Int64 {
    timeBase.rescale(Int64(seconds * 1e6), from: Rational(1, 1_000_000))
  }
}
