import Glibc
import SeededRandom
import Testing

@testable import Media

@Suite("Audio scans")
struct AudioScanTests {
  @Test(
    "samples without a finite power give no detail",
    arguments: [1e20, 3e38, .greatestFiniteMagnitude, .infinity, .nan] as [Float])
  func infinite(magnitude: Float) {
    let square = (0..<4000).map { $0 / 40 % 2 == 0 ? magnitude : -magnitude }
    let detail = SoundDetail(square)
    #expect(detail.differences.allSatisfy { $0 == 0 } && !detail.isTelling)
  }

  @Test("the detail of a signal has the same power at every volume", arguments: [1e-6, 1, 1e6] as [Float])
  func volume(magnitude: Float) {
    let square = (0..<4000).map { $0 / 40 % 2 == 0 ? magnitude : -magnitude }
    let detail = SoundDetail(square).differences.map { Int($0) * Int($0) }
    let mean = Double(detail.reduce(0, +)) / Double(detail.count)
    #expect((200...256).contains(mean.squareRoot()))
  }
}

@Suite("The comparison of two sounds")
struct AudioAlignmentTests {
  private static let rate = SoundDetail.sourceRate

  /// Syllables of a voice with harmonics up to 3 kHz, from a time on, in seconds.
  private static func voice(_ seed: UInt64, from start: Double = 0, seconds: Double = 5) -> [Float] {
    var random = SplitMix64(seed: seed)
    var samples: [Float] = []
    var phase = 0.0
    while samples.count < Int((start + seconds) * Double(rate)) {
      let length = Int(Double.random(in: 0.06...0.25, using: &random) * Double(rate))
      let pause = Int(Double.random(in: 0.02...0.3, using: &random) * Double(rate))
      let pitch = Double.random(in: 90...230, using: &random)
      let formant = Double.random(in: 300...1200, using: &random)
      let glide = Double.random(in: -0.4...0.4, using: &random)
      for index in 0..<length {
        let position = Double(index) / Double(length)
        phase += 2 * .pi * pitch * (1 + glide * (position - 0.5)) / Double(rate)
        let envelope = sin(.pi * position)
        let sum = (1...Int(3000 / pitch)).reduce(0.0) { sum, harmonic in
          let distance = (Double(harmonic) * pitch - formant) / 250
          return sum + (exp(-distance * distance) + 0.3 / Double(harmonic)) * sin(Double(harmonic) * phase)
        }
        samples.append(Float(envelope * sum / 3))
      }
      samples += [Float](repeating: 0, count: pause)
    }
    return Array(samples[Int(start * Double(rate))...].prefix(Int(seconds * Double(rate))))
  }

  /// Noise with a low-pass of the second order.
  private static func noise(_ seed: UInt64, below frequency: Double, level: Float) -> [Float] {
    var random = SplitMix64(seed: seed)
    let factor = Float(1 - exp(-2 * .pi * frequency / Double(rate)))
    var (first, second): (Float, Float) = (0, 0)
    let samples = (0..<5 * rate).map { _ -> Float in
      let white = (0..<4).reduce(Float(0)) { sum, _ in sum + Float.random(in: -1...1, using: &random) }
      first += factor * (white - first)
      second += factor * (first - second)
      return second
    }
    let peak = samples.reduce(0) { max($0, $1.magnitude) }
    return samples.map { $0 * level / peak }
  }

  private static func compare(_ one: [Float], _ other: [Float]) -> AudioAlignment {
    AudioAlignment.find(SoundDetail(one), SoundDetail(other), maxOffset: 0.5)
  }

  @Test("different voices have nothing in common", arguments: [(1, 2), (3, 4), (5, 6)] as [(UInt64, UInt64)])
  func voices(one: UInt64, other: UInt64) {
    #expect(Self.compare(Self.voice(one), Self.voice(other)).outcome == .contradicting)
  }

  @Test("one voice is aligned, however far the recordings are apart", arguments: [0, 0.3, 0.6, 1.0, 1.9])
  func distances(seconds: Double) {
    let alignment = Self.compare(Self.voice(1, from: seconds), Self.voice(1))
    #expect(alignment.outcome == .aligned && abs(alignment.offset + seconds) < 0.001)
  }

  @Test(
    "a voice under the noise of wind in both microphones does not make two moments of one",
    arguments: [0.2, 0.1, 0.05, 0]
      as [Float])
  func wind(voice: Float) {
    let recordings = [UInt64(11), 12].map { seed in
      zip(Self.voice(1), Self.noise(seed, below: 100, level: 0.5)).map { $0 * voice + $1 }
    }
    let outcome = Self.compare(recordings[0], recordings[1]).outcome
    #expect(voice == 0.2 ? outcome == .aligned : outcome != .contradicting)
  }

  @Test(
    "steady noise of each microphone shows nothing, whether it hides a voice or not", arguments: [0.1, 1, 4] as [Float])
  func steady(level: Float) {
    let recordings = [UInt64(21), 22].map { seed in
      zip(Self.voice(1), Self.noise(seed, below: 4000, level: level)).map { $0 + $1 }
    }
    #expect(Self.compare(recordings[0], recordings[1]).outcome != .contradicting)
    let silence = [UInt64(31), 32].map { Self.noise($0, below: 4000, level: 0.01 * level) }
    #expect(Self.compare(silence[0], silence[1]).outcome == .undecided)
  }
}
