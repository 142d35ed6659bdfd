import Kernels

/// By how much one clip began before the other, told by the sound that both recorded.
///
/// The sounds are correlated at every lag. A peak means something only if it stands out: tones and beats fit at many
/// lags, sounds of two places at none.
struct AudioAlignment: Hashable, Sendable {
  /// What the sounds say.
  enum Outcome: Hashable, Sendable {
    /// They are one sound, this far apart.
    case aligned
    /// They may be: too quiet, too periodic or too different to tell.
    case undecided
    /// They are rich in detail, and have nothing in common.
    case contradicting
  }

  let outcome: Outcome
  /// How much later in the first file than in the second the same sound is heard, in seconds.
  let offset: Double
  /// 0 to 1: how alike they are there, less where they are as alike elsewhere.
  let confidence: Double

  /// From here on the offset is believed.
  static let minConfidence = 0.3
  // What a peak must stand above all others by, as a share of it, to count whole.
  private static let wholeProminence = 0.3
  // Peaks closer than this are one: what lies within a picture's time makes no difference.
  private static let peakWidth = 0.02
  private static let nothingInCommon = 0.12
  // A sound that repeats itself so well within the range of lags may fail to meet another by bad luck only.
  private static let maxRepetition = 0.6

  /// - Parameters:
  ///   - first, second: detail of both sounds from their files' time zero, at `rate` samples a second.
  ///   - most: the largest offset that is looked for, in seconds.
  init(_ first: [Int16], _ second: [Int16], rate: Int, most: Double) {
    let range = Int(most * Double(rate))
    let width = Int(Self.peakWidth * Double(rate))
    let correlation = Correlation(first, second)
    let values = (-range...range).map { correlation.value(atLag: $0).magnitude }
    guard let best = values.indices.max(by: { values[$0] < values[$1] }), values[best] > 0 else {
      (outcome, offset, confidence) = (.undecided, 0, 0)
      return
    }
    let others = values.indices.lazy.filter { abs($0 - best) > width }.map { values[$0] }.max() ?? 0
    let prominence = (values[best] - others) / values[best]
    confidence = values[best] * min(1, prominence / Self.wholeProminence)
    offset = Double(best - range) / Double(rate)
    if confidence >= Self.minConfidence {
      outcome = .aligned
    } else if values[best] < Self.nothingInCommon,
      [first, second].allSatisfy({ Self.repetition(in: $0, from: width, to: range) < Self.maxRepetition })
    {
      outcome = .contradicting
    } else {
      outcome = .undecided
    }
  }

  /// How alike a sound is to itself at the lag where it is most so.
  private static func repetition(in sound: [Int16], from shortest: Int, to longest: Int) -> Double {
    guard shortest < longest else { return 1 }
    let correlation = Correlation(sound, sound)
    return (shortest...longest).lazy.map { correlation.value(atLag: $0).magnitude }.max() ?? 1
  }
}
