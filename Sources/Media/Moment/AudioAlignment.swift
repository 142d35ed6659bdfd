import Kernels
import Model

/// The offset between two clips, computed from the audio that both recorded.
///
/// The signals are correlated at every lag. Only a prominent peak counts: tones and rhythms match at many lags,
/// recordings of different scenes at none.
struct AudioAlignment: Hashable, Sendable {
  /// The conclusion from the correlation.
  enum Outcome: Hashable, Sendable {
    /// The signals match at one offset.
    case aligned
    /// The signals are too quiet, too steady, too periodic or too different for a conclusion.
    case undecided
    /// The signals are rich in events and match at no offset.
    case contradicting
  }

  let outcome: Outcome
  /// The time of an event in the first file minus its time in the second, in seconds.
  let offset: Double
  /// 0 to 1: the correlation at the offset, reduced if the correlation at another offset is similar.
  let confidence: Double

  // In seconds. It is searched first, or the difference of durations that the definition allows if that is larger.
  private static let usualOffset = 0.5
  // In seconds. Clips that are further apart have less in common than a composition needs.
  private static let searchedOffset = 2.0
  // The smallest confidence at which the offset is used.
  private static let minConfidence = 0.3
  // The prominence of a peak, relative to its height, from which on it does not reduce the confidence.
  private static let fullProminence = 0.3
  // In seconds. Peaks that are closer together than this count as one: they lie within the duration of one frame.
  private static let peakWidth = 0.02
  private static let maxUnrelatedCorrelation = 0.12
  // A signal that repeats itself more closely than this within the range of lags cannot contradict another.
  private static let maxRepetition = 0.6

  /// The largest offset that clips usually have, in seconds.
  static func maxUsual(_ limits: Limits) -> Double { max(usualOffset, limits.differenceSeconds) }

  /// The largest offset that is found between clips with this usual one, in seconds.
  static func maxSearched(for maxOffset: Double) -> Double { max(maxOffset, searchedOffset) }

  /// Compares the sounds of both clips: at the usual offsets first, and where they do not match there, at all.
  static func find(_ first: SoundDetail, _ second: SoundDetail, maxOffset: Double) -> Self {
    let usual = Self(first, second, maxOffset: maxOffset)
    return usual.outcome == .aligned ? usual : Self(first, second, maxOffset: maxSearched(for: maxOffset))
  }

  /// - Parameter maxOffset: the largest offset that is searched, in seconds.
  private init(_ first: SoundDetail, _ second: SoundDetail, maxOffset: Double) {
    let rate = Double(SoundDetail.rate)
    let range = Int(maxOffset * rate)
    let width = Int(Self.peakWidth * rate)
    let correlation = Correlation(first.differences, second.differences)
    let values = (-range...range).map { correlation.value(atLag: $0).magnitude }
    guard let best = values.indices.max(by: { values[$0] < values[$1] }), values[best] > 0 else {
      (outcome, offset, confidence) = (.undecided, 0, 0)
      return
    }
    let others = values.indices.lazy.filter { abs($0 - best) > width }.map { values[$0] }.max() ?? 0
    let prominence = (values[best] - others) / values[best]
    confidence = values[best] * min(1, prominence / Self.fullProminence)
    offset = Double(best - range) / rate
    if confidence >= Self.minConfidence {
      outcome = .aligned
    } else if values[best] < Self.maxUnrelatedCorrelation,
      [first, second].allSatisfy({ detail in
        detail.isTelling && Self.repetition(in: detail.differences, from: width, to: range) < Self.maxRepetition
      })
    {
      outcome = .contradicting
    } else {
      outcome = .undecided
    }
  }

  /// The largest autocorrelation of a signal in a range of lags.
  private static func repetition(in signal: [Int16], from minLag: Int, to maxLag: Int) -> Double {
    guard minLag < maxLag else { return 1 }
    let correlation = Correlation(signal, signal)
    return (minLag...maxLag).lazy.map { correlation.value(atLag: $0).magnitude }.max() ?? 1
  }
}
