import Glibc
import Model

/// How loud a sound is (EBU R 128).
struct Loudness: Hashable, Sendable {
  /// The integrated loudness in LUFS.
  let lufs: Double
  /// The largest magnitude between samples, in dB of full scale.
  let truePeak: Double

  // EBU R 128: lossy codecs overshoot what is closer to full scale.
  private static let maxTruePeak = -1.0
  // A quiet voice becomes as loud as others, and the noise of a quiet room does not.
  private static let maxGain = 20.0

  /// The gain in dB with which it has a loudness in LUFS, or the largest with which its true peak is -1 dBTP, or 20 dB, whichever is least.
  func gain(to target: Double) -> Double { min(target - lufs, Self.maxTruePeak - truePeak, Self.maxGain) }
}

/// The gain of an output's sound, and the loudness that it has with it.
struct SoundLevel: Hashable, Sendable {
  /// What each sample is multiplied by.
  let factor: Float
  /// In LUFS; nil: it has no sound, or one that is silent or too short to be measured.
  let lufs: Double?

  // AAC rounds the flat tops of a wave that is cut off up to twice as high, beyond full scale.
  private static let overdrivenGain = -20 * log10(2.0)

  /// - Parameters:
  ///   - plan: nil: the output has no sound.
  ///   - measured: the loudness of its source.
  ///   - isOverdriven: whether its source is at full scale for a part of the time that is audible.
  init(_ plan: AudioPlan?, of measured: Loudness?, isOverdriven: Bool = false) {
    var gain = 0.0
    if let plan, plan.mode == .encode {
      if let loudness = plan.loudness, let measured { gain = measured.gain(to: loudness) }
      if isOverdriven { gain = min(gain, Self.overdrivenGain) }
    }
    factor = gain == 0 ? 1 : Float(pow(10, gain / 20))
    lufs = plan == nil ? nil : measured.map { $0.lufs + gain }
  }
}
