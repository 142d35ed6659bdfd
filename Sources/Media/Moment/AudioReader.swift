import AV
import Model

/// Decodes one sound stream of an input into one channel, laid out by its times: gaps are silence.
final class AudioReader {
  /// From the file's time zero on, 1 for full scale.
  private(set) var samples: [Float] = []
  /// Where the first packet lies that cannot be decoded, in seconds.
  private(set) var damage: Double?

  private let source: InputSource
  private let demuxer: Demuxer
  private let decoder: Decoder
  private let stream: Int
  private let timeBase: Rational
  private let rate: Int
  private let origin: Double
  private let most: Int
  private let decoded: Frame
  private let converted: Frame
  private var resampler: Resampler?
  /// Samples before the file's time zero that are still to be left out.
  private var early = 0

  private static let room = 4096
  // Times are rounded to ticks of all lengths: only a real gap is filled.
  private static let minGap = 0.02

  init(_ source: InputSource, stream: Int, rate: Int, origin: Double, longest: Double) throws(Stop) {
    demuxer = try source.open()
    guard demuxer.streams.indices.contains(stream) else {
      throw source.refusal(.corruptVideo, "its sound, stream \(stream), is not there")
    }
    demuxer.select([stream])
    do {
      decoder = try Decoder(stream: stream, of: demuxer, limits: source.decoderLimits(source.audioCodecs))
    } catch {
      throw source.blame(error, .unsupportedCodec, "its sound cannot be decoded")
    }
    self.source = source
    self.stream = stream
    self.rate = rate
    self.origin = origin
    timeBase = demuxer.streams[stream].timeBase
    most = Int(longest * Double(rate))
    decoded = try Stop.wrap { () throws(AVError) in try Frame() }
    converted = try Stop.wrap { () throws(AVError) in
      try Frame(sampleCapacity: Self.room, sampleRate: rate, channels: 1)
    }
    samples.reserveCapacity(min(most, 1 << 16))
  }

  /// Decodes all of it, or as much as is wanted.
  func run() throws(Stop) {
    let packet = try Stop.wrap { () throws(AVError) in try Packet() }
    while samples.count < most, try source.read(demuxer, into: packet) {
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
    do { try resampler?.finish() } catch { throw Stop(error) }
    try take()
  }

  private func receive() throws(Stop) {
    while true {
      let received: Received
      do { received = try decoder.receive(into: decoded) } catch {
        noteDamage(at: decoded.pts)
        continue
      }
      guard received == .output else { return }
      place()
      try convert()
    }
  }

  private func noteDamage(at ticks: Int64?) {
    if damage == nil { damage = max(0, ticks.map { timeBase.seconds($0) - origin } ?? 0) }
  }

  /// Brings the end of the samples to where the decoded ones begin.
  private func place() {
    guard let ticks = decoded.pts ?? decoded.bestTimestamp else { return }
    let start = Int(((timeBase.seconds(ticks) - origin) * Double(rate)).rounded())
    if resampler == nil && start < 0 {
      early = -start
    } else if Double(start - samples.count) > Self.minGap * Double(rate) {
      samples += [Float](repeating: 0, count: min(start, most) - min(samples.count, most))
    }
  }

  private func convert() throws(Stop) {
    do {
      if resampler?.accepts(decoded) != true { resampler = try Resampler(like: decoded, toRate: rate, channels: 1) }
      try resampler?.send(decoded)
    } catch {
      throw Stop(error)
    }
    try take()
  }

  private func take() throws(Stop) {
    while true {
      let count: Int
      do { count = try resampler?.receive(into: converted, at: 0, count: Self.room) ?? 0 } catch { throw Stop(error) }
      guard count > 0, let plane = converted.samples(ofChannel: 0) else { return }
      let skipped = min(early, count)
      early -= skipped
      samples += plane[skipped..<count]
    }
  }
}
