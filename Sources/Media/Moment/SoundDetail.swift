import Glibc

/// What the sound of a clip is compared by: its changes between 150 and 800 Hz, where voices and events are and wind is not.
struct SoundDetail: Sendable {
  /// The rate of the sound that it is made from, in samples per second: the band below 4 kHz holds nearly all of the power.
  static let sourceRate = 8000
  /// Samples per second of `differences`: a resolution of half a millisecond suffices to align frames.
  static let rate = 2000

  /// The differences between successive samples, from the start of the sound on, normalised by their mean power.
  let differences: [Int16]
  /// Whether another recording of the moment must have this sound too: it has events, and they do not drown in wind.
  ///
  /// The noise of wind, of water and of the microphones themselves differs from microphone to microphone.
  let isTelling: Bool

  private static let step = sourceRate / rate
  // The part of the power that lies above 150 Hz: a twelfth of the power of wind, nine tenths of the power of voices.
  private static let minShare: Float = 0.25
  // The variance of the power of blocks of 50 ms over the square of its mean: 0.03 in steady noise, 1 and more in voices.
  private static let minVariation: Float = 0.25
  private static let block = rate / 20

  /// Low-passes and decimates to `rate`, removes what lies below 150 Hz, takes differences, which flatten the spectrum, and scales to 12 bits.
  init(_ samples: [Float]) {
    let low = Self.filtered(samples, by: Self.lowPass, step: Self.step)
    let bass = Self.filtered(low, by: Self.bassPass, step: 1)
    let margin = Self.bassPass.count / 2
    let band = bass.indices.map { low[$0 + margin] - bass[$0] }
    let changes = zip(band.dropFirst(), band).map { $0 - $1 }
    let power = Self.power(changes)
    // Samples of floating point can be so large that their power is infinite.
    guard power > 0, power.isFinite else {
      differences = [Int16](repeating: 0, count: changes.count)
      isTelling = false
      return
    }
    let scale = 256 / power.squareRoot()
    differences = changes.map { Int16(min(max($0 * scale, -2047), 2047)) }
    isTelling = Self.power(band) > Self.minShare * Self.power(low) && Self.variation(of: band) > Self.minVariation
  }

  /// The sums of products with the taps at every `step`-th position at which all taps meet a sample.
  private static func filtered(_ samples: [Float], by taps: [Float], step: Int) -> [Float] {
    guard samples.count > taps.count else { return [] }
    return samples.withUnsafeBufferPointer { samples in
      stride(from: 0, to: samples.count - taps.count + 1, by: step).map { start in
        var sum: Float = 0
        for index in taps.indices { sum += taps[index] * samples[start + index] }
        return sum
      }
    }
  }

  private static func power(_ samples: [Float]) -> Float {
    samples.reduce(0) { $0 + $1 * $1 } / Float(max(1, samples.count))
  }

  private static func variation(of samples: [Float]) -> Float {
    let powers = stride(from: 0, to: samples.count - block + 1, by: block).map { start in
      power(Array(samples[start..<start + block]))
    }
    let mean = powers.reduce(0, +) / Float(max(1, powers.count))
    guard mean > 0 else { return 0 }
    return powers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Float(powers.count) / (mean * mean)
  }

  /// Cuts off at a tenth of `sourceRate`.
  private static let lowPass = windowedSinc(cutoff: 0.1, half: 16)
  /// Cuts off at 150 Hz: half of the amplitude there, all of it below 100 Hz, nothing above 200 Hz.
  private static let bassPass = windowedSinc(cutoff: 150 / Double(rate), half: 32)

  /// A low-pass filter: a sinc in a window of Hann.
  ///
  /// - Parameters:
  ///   - cutoff: as a part of the sample rate.
  ///   - half: the number of taps on either side of the middle one.
  private static func windowedSinc(cutoff: Double, half: Int) -> [Float] {
    let taps = (-half...half).map { index -> Double in
      let position = Double(index)
      let sinc = index == 0 ? 2 * cutoff : sin(2 * cutoff * .pi * position) / (.pi * position)
      let window = 0.5 + 0.5 * sin(.pi / 2 + .pi * position / Double(half + 1))
      return sinc * window
    }
    let sum = taps.reduce(0, +)
    return taps.map { Float($0 / sum) }
  }
}
