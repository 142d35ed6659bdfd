import AV
import Model

/// Decodes one audio stream of an input into two channels, placed by its timestamps: gaps become silence.
final class AudioReader {
  /// The samples of each channel from the file's time zero on; full scale is 1.
  private var samples: [[Float]] = [[], []]
  /// The time of the first packet that cannot be decoded, in seconds; nil if there is none.
  private(set) var damage: Double?
  /// Nil of silence, and of less than 0.4 s; known after `run()`.
  private(set) var loudness: Loudness?

  private let source: InputSource
  private let demuxer: Demuxer
  private let decoder: Decoder
  private let stream: Int
  private let timeBase: Rational
  private let rate: Int
  private let origin: Double
  private let maxSamples: Int
  private let decoded: Frame
  private let converted: Frame
  private var resampler: Resampler?
  private let meter: LoudnessScan
  /// The number of samples before the file's time zero that are still to be dropped.
  private var samplesToDrop = 0

  private static let bufferCapacity = 4096
  // In seconds. A smaller gap between timestamps is rounding and is not filled.
  private static let minGap = 0.02

  init(_ source: InputSource, stream: Int, rate: Int, origin: Double, maxSeconds: Double) throws(RunFailure) {
    demuxer = try source.open()
    guard demuxer.streams.indices.contains(stream) else {
      throw source.refusal(.corruptVideo, "its audio stream \(stream) is missing")
    }
    demuxer.select([stream])
    do {
      decoder = try Decoder(stream: stream, of: demuxer, limits: source.decoderLimits(source.audioCodecs))
    } catch {
      throw source.failure(for: error, .unsupportedCodec, "its audio cannot be decoded")
    }
    self.source = source
    self.stream = stream
    self.rate = rate
    self.origin = origin
    timeBase = demuxer.streams[stream].timeBase
    maxSamples = Int(maxSeconds * Double(rate))
    decoded = try RunFailure.wrap { () throws(AVError) in try Frame() }
    converted = try RunFailure.wrap { () throws(AVError) in
      try Frame(sampleCapacity: Self.bufferCapacity, sampleRate: rate, channels: 2)
    }
    meter = try LoudnessScan()
    for channel in samples.indices { samples[channel].reserveCapacity(min(maxSamples, 1 << 16)) }
  }

  /// The largest magnitude of a sample in a channel.
  var peak: Float { samples.joined().reduce(0) { max($0, $1.magnitude) } }

  /// Whether more than a hundredth of it is above -1 dB of full scale: it was cut off there, or as good as.
  var isOverdriven: Bool {
    let loud = samples.joined().count { $0.magnitude > Self.loud }
    return loud * 100 > samples.count * count
  }

  private static let loud: Float = 0.891

  /// Both channels as one. Where they are in opposite phase, their sum would be silence, and their difference is the sound.
  var mixed: [Float] {
    let sum = zip(samples[0], samples[1]).map { ($0 + $1) / 2 }
    let difference = zip(samples[0], samples[1]).map { ($0 - $1) / 2 }
    let (common, opposite) = (Self.energy(sum), Self.energy(difference))
    return opposite > Self.oppositePhase * common ? difference : sum
  }

  // 6 dB: sound in opposite phase has hardly anything in common, and other stereo sound more than it has not.
  private static let oppositePhase: Float = 4

  private static func energy(_ samples: [Float]) -> Float { samples.reduce(0) { $0 + $1 * $1 } }

  private var count: Int { samples[0].count }

  /// Decodes the stream up to `maxSeconds`.
  func run() throws(RunFailure) {
    let packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
    while count < maxSamples, try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      guard packet.stream == stream else { continue }
      do { try decoder.send(packet) } catch {
        noteDamage(at: packet.pts)
        continue
      }
      try receive()
    }
    if (try? decoder.finish()) != nil { try receive() }
    guard resampler != nil else { return }
    do { try resampler?.finish() } catch { throw RunFailure(error) }
    try appendConverted()
    loudness = try meter.finish()
  }

  private func receive() throws(RunFailure) {
    while true {
      let received: Received
      do { received = try decoder.receive(into: decoded) } catch {
        noteDamage(at: decoded.pts)
        continue
      }
      guard received == .output else { return }
      guard decoded.isResamplable else {
        noteDamage(at: decoded.pts)
        continue
      }
      fillGap()
      try convert()
      try meter.add(decoded)
    }
  }

  private func noteDamage(at ticks: Int64?) {
    if damage == nil { damage = max(0, ticks.map { timeBase.seconds($0) - origin } ?? 0) }
  }

  /// Extends `samples` with silence to the start of the decoded frame.
  private func fillGap() {
    guard let ticks = decoded.pts ?? decoded.bestTimestamp else { return }
    let start = Int(((timeBase.seconds(ticks) - origin) * Double(rate)).rounded())
    if resampler == nil && start < 0 {
      samplesToDrop = -start
    } else if Double(start - count) > Self.minGap * Double(rate) {
      let silence = [Float](repeating: 0, count: min(start, maxSamples) - min(count, maxSamples))
      for channel in samples.indices { samples[channel] += silence }
    }
  }

  private func convert() throws(RunFailure) {
    do {
      if resampler?.accepts(decoded) != true { resampler = try Resampler(like: decoded, toRate: rate, channels: 2) }
      try resampler?.send(decoded)
    } catch {
      throw RunFailure(error)
    }
    try appendConverted()
  }

  private func appendConverted() throws(RunFailure) {
    while true {
      let count: Int
      do {
        count = try resampler?.receive(into: converted, at: 0, count: Self.bufferCapacity) ?? 0
      } catch {
        throw RunFailure(error)
      }
      guard count > 0 else { return }
      let dropped = min(samplesToDrop, count)
      samplesToDrop -= dropped
      for channel in samples.indices {
        guard let plane = converted.samples(ofChannel: channel) else { return }
        samples[channel] += plane[dropped..<count]
      }
    }
  }
}
