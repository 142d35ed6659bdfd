import AV
import Glibc
import Testing

@Suite("Loudness")
struct LoudnessMeterTests {
  /// Measures what a function of the sample's index gives, on both channels.
  private static func measure(
    seconds: Double, _ sample: (Int) -> Float
  ) throws -> (loudness: Double?, truePeak: Double?) {
    let meter = try LoudnessMeter()
    let frame = try Frame(sampleCapacity: 4800, sampleRate: LoudnessMeter.sampleRate, channels: LoudnessMeter.channels)
    let total = Int(seconds * Double(LoudnessMeter.sampleRate))
    for start in stride(from: 0, to: total, by: 4800) {
      let count = min(4800, total - start)
      for channel in 0..<LoudnessMeter.channels {
        let plane = frame.samples(ofChannel: channel)
        let samples = try #require(plane)
        for index in 0..<count { samples[index] = sample(start + index) }
      }
      try meter.add(frame, count: count)
    }
    return (meter.loudness, meter.truePeak)
  }

  private static func sine(_ frequency: Double, _ amplitude: Double, phase: Double = 0) -> (Int) -> Float {
    { Float(amplitude * sin(2 * .pi * frequency * Double($0) / 48_000 + phase)) }
  }

  // EBU Tech 3341, cases 1 and 2, which allow 0.1 LU.
  @Test("a sine of 1 kHz on both channels has its level", arguments: [-23.0, -33, -16])
  func sine(level: Double) throws {
    let measured = try Self.measure(seconds: 5, Self.sine(1000, pow(10, level / 20)))
    #expect(abs(try #require(measured.loudness) - level) < 0.1)
    #expect(abs(try #require(measured.truePeak) - level) < 0.2)
  }

  // EBU Tech 3341, case 15 and after: a quarter of the sample rate, whose samples miss the peaks.
  @Test("the true peak lies between the samples")
  func truePeak() throws {
    let sine = Self.sine(12_000, 0.5, phase: .pi / 4)
    // It fades in: a sudden start has peaks of its own.
    let measured = try Self.measure(seconds: 1) { Float(min(1, Double($0) / 4800)) * sine($0) }
    #expect(abs(try #require(measured.truePeak) + 6) < 0.4)
  }

  @Test("silence, and less than 0.4 s, have no loudness; what is no audio counts as silence")
  func unmeasured() throws {
    let silence = try Self.measure(seconds: 5) { _ in 0 }
    #expect(silence.loudness == nil && silence.truePeak == nil)
    #expect(try Self.measure(seconds: 0.39, Self.sine(1000, 0.1)).loudness == nil)
    #expect(try Self.measure(seconds: 0.41, Self.sine(1000, 0.1)).loudness != nil)
    let damaged = try Self.measure(seconds: 5) { $0 % 3 == 0 ? .nan : $0 % 3 == 1 ? .infinity : -1e30 }
    #expect(damaged.loudness == nil && damaged.truePeak == nil)
  }
}
