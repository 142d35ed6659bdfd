import AV
import Model

/// Decodes the audio of an input, resamples it to 48 kHz stereo, cuts it to the output and encodes it as AAC.
final class EncodedAudio: AudioTrack {
  private static let sampleRate = 48_000
  private static let channels = 2
  private static let bitRate = 128_000

  private let source: Int
  /// The time base of the source's packets.
  private let timeBase: Rational
  /// The start of the output, in samples of the output.
  private let origin: Int64
  private let stream: SharedStream
  private let gain: Float
  private let decoder: Decoder
  private let encoder: AudioEncoder
  private let decoded: Frame
  private let packet: Packet
  private let pending: Frame
  private var resampler: Resampler?
  /// The number of filled samples of `pending`.
  private var filled = 0
  /// The position of the next sample from the resampler, in samples from the start of the output.
  private var position: Int64 = 0
  private var placement = SoundPlacement()
  /// The number of samples from the resampler that are still to be left out.
  private var overlap = 0
  private let end: Int64?
  private(set) var isFinished = false

  init(
    of reader: ClipReader, stream source: Int, gain: Float, from start: Double, until seconds: Double?,
    containers: [ContainerWriter]
  ) throws(RunFailure) {
    self.source = source
    self.gain = gain
    end = seconds.map { Int64(($0 * Double(Self.sampleRate)).rounded()) }
    do {
      decoder = try Decoder(
        stream: source, of: reader.demuxer, limits: reader.source.decoderLimits(reader.source.audioCodecs))
    } catch {
      throw reader.source.failure(for: error, .unsupportedCodec, "its audio cannot be decoded")
    }
    encoder = try RunFailure.wrap { () throws(AVError) in
      try AudioEncoder(sampleRate: Self.sampleRate, channels: Self.channels, bitRate: Self.bitRate)
    }
    // A reference to the reader would be a cycle: the reader holds its taps.
    timeBase = reader.demuxer.streams[source].timeBase
    origin =
      encoder.timeBase.rescale(reader.origin, from: reader.timeBase)
      + Int64((start * Double(Self.sampleRate)).rounded())
    let frameSize = encoder.frameSize
    pending = try RunFailure.wrap { () throws(AVError) in
      try Frame(sampleCapacity: frameSize, sampleRate: Self.sampleRate, channels: Self.channels)
    }
    decoded = try RunFailure.wrap { () throws(AVError) in try Frame() }
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
    stream = try containers.addStream(of: encoder)
  }

  // Half a second: more than decoders hold back.
  private static let maxDelay: Int64 = 24_000

  func take(_ packet: borrowing Packet) throws(RunFailure) {
    guard packet.stream == source else { return }
    if let end, let ticks = packet.pts ?? packet.dts,
      encoder.timeBase.rescale(ticks, from: timeBase) - origin >= end + Self.maxDelay
    {
      isFinished = true
    }
    // An audio packet that cannot be decoded becomes a gap; it does not fail the run.
    do { try decoder.send(packet) } catch { return }
    try resampleDecoded()
  }

  func finish() throws(RunFailure) {
    do { try decoder.finish() } catch { throw RunFailure(error) }
    try resampleDecoded()
    if resampler != nil { try drainResampler() }
    if filled > 0 { try encodePending() }
    do { try encoder.finish() } catch { throw RunFailure(error) }
    try writePackets()
  }

  private func resampleDecoded() throws(RunFailure) {
    while (try? decoder.receive(into: decoded)) == .output {
      guard decoded.isResamplable, try placeDecoded() else { continue }
      try prepareResampler()
      do { try resampler?.send(decoded) } catch { throw RunFailure(error) }
      try encodeResampled()
    }
  }

  /// Makes up what the timestamps differ from the number of samples, so that audio and video stay in sync: with silence, or by leaving
  /// samples out.
  ///
  /// - Returns: false if all of the decoded frame is left out.
  private func placeDecoded() throws(RunFailure) -> Bool {
    let start = startOfDecoded()
    let length = Double(decoded.sampleCount) * Double(Self.sampleRate) / Double(max(1, decoded.sampleRate))
    switch placement.place(start, lasting: length) {
    case .following: break
    case .behindGap:
      if resampler != nil { try drainResampler() }
      resampler = nil
      overlap = 0
      try encodeSilence(until: start)
    case .overlapping(let count): overlap += count
    case .repeated: return false
    }
    return true
  }

  private func encodeSilence(until start: Int64) throws(RunFailure) {
    position = max(position, min(0, start))
    while position < min(start, end ?? start) {
      try prepareBuffer()
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

  private func prepareBuffer() throws(RunFailure) {
    guard filled == 0 else { return }
    do { try pending.makeWritable() } catch { throw RunFailure(error) }
  }

  /// Makes a new resampler if rate or channels of the decoded audio change, after draining the old one.
  private func prepareResampler() throws(RunFailure) {
    if resampler == nil {
      // Only the first frame sets the position: a correction by rounding errors later would be audible as a click.
      position = position == 0 && filled == 0 ? startOfDecoded() : position
    } else {
      if resampler?.accepts(decoded) == true { return }
      try drainResampler()
    }
    do {
      resampler = try Resampler(like: decoded, toRate: Self.sampleRate, channels: Self.channels)
    } catch {
      throw RunFailure(error)
    }
  }

  private func drainResampler() throws(RunFailure) {
    do { try resampler?.finish() } catch { throw RunFailure(error) }
    try encodeResampled()
  }

  private func startOfDecoded() -> Int64 {
    guard let pts = decoded.pts ?? decoded.bestTimestamp else { return 0 }
    return encoder.timeBase.rescale(pts, from: timeBase) - origin
  }

  private func encodeResampled() throws(RunFailure) {
    while true {
      try prepareBuffer()
      let free = encoder.frameSize - filled
      // Samples before the start of the output, and those that overlap others, are read and dropped.
      let requested = overlap > 0 ? min(free, overlap) : position < 0 ? min(free, Int(-position)) : free
      let count: Int
      do { count = try resampler?.receive(into: pending, at: filled, count: requested) ?? 0 } catch {
        throw RunFailure(error)
      }
      if count == 0 { return }
      if overlap > 0 {
        overlap -= count
        continue
      }
      position += Int64(count)
      if position <= 0 { continue }
      let used = end.map { min(Int64(count), max(0, $0 - position + Int64(count))) } ?? Int64(count)
      filled += Int(used)
      if filled == encoder.frameSize { try encodePending() }
    }
  }

  private func encodePending() throws(RunFailure) {
    pending.setSampleCount(filled)
    pending.pts = min(position, end ?? position) - Int64(filled)
    silenceNoise(count: filled)
    amplify(count: filled)
    filled = 0
    do { try encoder.send(pending) } catch { throw RunFailure(error) }
    pending.setSampleCount(encoder.frameSize)
    try writePackets()
  }

  // 48 dB above full scale.
  private static let maxSample: Float = 256

  /// Replaces samples that are no audio by silence: damaged audio decodes to numbers without bounds or to no numbers, which
  /// the encoder refuses.
  private func silenceNoise(count: Int) {
    for channel in 0..<Self.channels {
      guard let samples = pending.samples(ofChannel: channel) else { continue }
      for index in 0..<count where !(abs(samples[index]) <= Self.maxSample) { samples[index] = 0 }
    }
  }

  private func amplify(count: Int) {
    guard gain != 1 else { return }
    for channel in 0..<Self.channels {
      guard let samples = pending.samples(ofChannel: channel) else { continue }
      for index in 0..<count { samples[index] *= gain }
    }
  }

  private func writePackets() throws(RunFailure) {
    while try receive() == .output { try stream.write(packet, timeBase: encoder.timeBase) }
  }

  private func receive() throws(RunFailure) -> Received {
    do { return try encoder.receive(into: packet) } catch { throw RunFailure(error) }
  }
}
