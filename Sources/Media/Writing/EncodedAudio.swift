import AV
import Model

/// An input's sound decoded, brought to 48 kHz stereo, cut to the output's time and encoded as AAC.
final class EncodedAudio: AudioTrack {
  private static let sampleRate = 48_000
  private static let channels = 2
  private static let bitRate = 128_000

  private let output: OutputFile
  private let source: Int
  /// Of the source's packets.
  private let timeBase: Rational
  /// The output's beginning, in samples of the output.
  private let origin: Int64
  private let stream: Int
  private let decoder: Decoder
  private let encoder: AudioEncoder
  private let decoded: Frame
  private let packet: Packet
  private let pending: Frame
  private var resampler: Resampler?
  /// How many samples of `pending` are filled.
  private var filled = 0
  /// The time of the next sample that comes out of the resampler, in samples from the output's start.
  private var position: Int64 = 0
  /// Where the sound decoded so far ends, in samples from the output's start; nil before the first.
  private var decodedEnd: Int64?
  private let end: Int64?

  init(
    of reader: ClipReader, stream source: Int, from start: Double, until seconds: Double?, output: OutputFile
  ) throws(Stop) {
    self.source = source
    self.output = output
    end = seconds.map { Int64(($0 * Double(Self.sampleRate)).rounded()) }
    do {
      decoder = try Decoder(
        stream: source, of: reader.demuxer, limits: reader.source.decoderLimits(reader.source.audioCodecs))
    } catch {
      throw reader.source.blame(error, .unsupportedCodec, "its sound cannot be decoded")
    }
    encoder = try Stop.wrap { () throws(AVError) in
      try AudioEncoder(sampleRate: Self.sampleRate, channels: Self.channels, bitRate: Self.bitRate)
    }
    // Not the reader itself: it holds its taps.
    timeBase = reader.demuxer.streams[source].timeBase
    origin =
      encoder.timeBase.rescale(reader.origin, from: reader.timeBase)
      + Int64((start * Double(Self.sampleRate)).rounded())
    let frameSize = encoder.frameSize
    pending = try Stop.wrap { () throws(AVError) in
      try Frame(sampleCapacity: frameSize, sampleRate: Self.sampleRate, channels: Self.channels)
    }
    decoded = try Stop.wrap { () throws(AVError) in try Frame() }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
    do { stream = try output.muxer.addStream(of: encoder) } catch { throw Stop(error) }
  }

  func take(_ packet: borrowing Packet) throws(Stop) {
    guard packet.stream == source else { return }
    // A packet of sound that cannot be decoded is a gap in it, not in the moment.
    do { try decoder.send(packet) } catch { return }
    try resampleDecoded()
  }

  func finish() throws(Stop) {
    do { try decoder.finish() } catch { throw Stop(error) }
    try resampleDecoded()
    if resampler != nil { try drainResampler() }
    if filled > 0 { try encodePending() }
    do { try encoder.finish() } catch { throw Stop(error) }
    try writePackets()
  }

  private func resampleDecoded() throws(Stop) {
    while (try? decoder.receive(into: decoded)) == .output {
      guard try settleTime() else { continue }
      try prepareResampler()
      do { try resampler?.send(decoded) } catch { throw Stop(error) }
      try encodeResampled()
    }
  }

  /// Keeps sound and pictures together where the sound's times jump: a gap is filled with silence.
  ///
  /// - Returns: false for sound of a time that was heard already.
  private func settleTime() throws(Stop) -> Bool {
    let start = startOfDecoded()
    let length = Int64(decoded.sampleCount) * Int64(Self.sampleRate) / Int64(max(1, decoded.sampleRate))
    guard let expected = decodedEnd else {
      decodedEnd = start + length
      return true
    }
    if start < expected - Self.minGap { return false }
    if start > expected + Self.minGap {
      if resampler != nil { try drainResampler() }
      resampler = nil
      try encodeSilence(until: start)
    }
    decodedEnd = max(expected, start) + length
    return true
  }

  // 20 ms: times are rounded to ticks of all lengths, and only a real gap is one.
  private static let minGap: Int64 = 960

  private func encodeSilence(until start: Int64) throws(Stop) {
    position = max(position, min(0, start))
    while position < min(start, end ?? start) {
      try prepareRoom()
      let count = Int(min(Int64(encoder.frameSize - filled), min(start, end ?? start) - position))
      pending.setSampleCount(encoder.frameSize)
      for channel in 0..<Self.channels {
        pending.samples(ofChannel: channel)?[filled..<filled + count].update(repeating: 0)
      }
      filled += count
      position += Int64(count)
      if filled == encoder.frameSize { try encodePending() }
    }
  }

  private func prepareRoom() throws(Stop) {
    guard filled == 0 else { return }
    do { try pending.makeWritable() } catch { throw Stop(error) }
  }

  /// AAC may change its rate or channels midway: what the old resampler holds back comes out before a new one is made.
  private func prepareResampler() throws(Stop) {
    if resampler == nil {
      // What was rounded is not moved: it would be heard as a click.
      position = position == 0 && filled == 0 ? startOfDecoded() : position
    } else {
      if resampler?.accepts(decoded) == true { return }
      try drainResampler()
    }
    do {
      resampler = try Resampler(like: decoded, toRate: Self.sampleRate, channels: Self.channels)
    } catch {
      throw Stop(error)
    }
  }

  private func drainResampler() throws(Stop) {
    do { try resampler?.finish() } catch { throw Stop(error) }
    try encodeResampled()
  }

  private func startOfDecoded() -> Int64 {
    guard let pts = decoded.pts ?? decoded.bestTimestamp else { return 0 }
    return encoder.timeBase.rescale(pts, from: timeBase) - origin
  }

  private func encodeResampled() throws(Stop) {
    while true {
      try prepareRoom()
      let room = encoder.frameSize - filled
      // What lies before the output's start is taken out and forgotten.
      let wanted = position < 0 ? min(room, Int(-position)) : room
      let count: Int
      do { count = try resampler?.receive(into: pending, at: filled, count: wanted) ?? 0 } catch { throw Stop(error) }
      if count == 0 { return }
      position += Int64(count)
      if position <= 0 { continue }
      let kept = end.map { min(Int64(count), max(0, $0 - position + Int64(count))) } ?? Int64(count)
      filled += Int(kept)
      if filled == encoder.frameSize { try encodePending() }
    }
  }

  private func encodePending() throws(Stop) {
    pending.setSampleCount(filled)
    pending.pts = min(position, end ?? position) - Int64(filled)
    filled = 0
    do { try encoder.send(pending) } catch { throw Stop(error) }
    pending.setSampleCount(encoder.frameSize)
    try writePackets()
  }

  private func writePackets() throws(Stop) {
    while try receive() == .output { try output.write(packet, to: stream, timeBase: encoder.timeBase) }
  }

  private func receive() throws(Stop) -> Received {
    do { return try encoder.receive(into: packet) } catch { throw Stop(error) }
  }
}
