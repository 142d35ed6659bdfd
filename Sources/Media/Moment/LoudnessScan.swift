import AV

/// Measures the loudness of decoded audio as two channels play it: one channel counts twice.
final class LoudnessScan {
  private let meter: LoudnessMeter
  private let converted: Frame
  private var resampler: Resampler?

  private static let bufferCapacity = 4096

  init() throws(RunFailure) {
    meter = try RunFailure.wrap { () throws(AVError) in try LoudnessMeter() }
    converted = try RunFailure.wrap { () throws(AVError) in
      try Frame(
        sampleCapacity: Self.bufferCapacity, sampleRate: LoudnessMeter.sampleRate, channels: LoudnessMeter.channels)
    }
  }

  /// Measures a decoded frame. Gaps between frames are left out: silence counts for nothing.
  func add(_ decoded: borrowing Frame) throws(RunFailure) {
    do {
      if resampler?.accepts(decoded) != true {
        resampler = try Resampler(
          like: decoded, toRate: LoudnessMeter.sampleRate, channels: LoudnessMeter.channels)
      }
      try resampler?.send(decoded)
    } catch {
      throw RunFailure(error)
    }
    try measure()
  }

  /// The loudness of all sound that was added; ends the scan. Nil for silence, and for less than 0.4 s.
  func finish() throws(RunFailure) -> Loudness? {
    if resampler != nil {
      do { try resampler?.finish() } catch { throw RunFailure(error) }
      try measure()
    }
    guard let loudness = meter.loudness, let truePeak = meter.truePeak else { return nil }
    return Loudness(lufs: loudness, truePeak: truePeak)
  }

  private func measure() throws(RunFailure) {
    while true {
      do {
        let count = try resampler?.receive(into: converted, at: 0, count: Self.bufferCapacity) ?? 0
        guard count > 0 else { return }
        try meter.add(converted, count: count)
      } catch {
        throw RunFailure(error)
      }
    }
  }
}
