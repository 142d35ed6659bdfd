internal import CFFmpeg

/// A fraction, as libav writes time bases, frame rates and aspect ratios (libavutil/rational.h).
package struct Rational: Hashable, Sendable {
  package let numerator: Int32
  package let denominator: Int32

  package init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }

  init(_ value: AVRational) { self.init(value.num, value.den) }

  var value: AVRational { AVRational(num: numerator, den: denominator) }

  /// The quotient; nil where the fraction says nothing (0/1, 1/0).
  package var quotient: Double? {
    numerator != 0 && denominator != 0 ? Double(numerator) / Double(denominator) : nil
  }

  /// How many seconds `ticks` of this time base are.
  package func seconds(_ ticks: Int64) -> Double {
    Double(ticks) * Double(numerator) / Double(denominator)
  }

  /// How many ticks of this time base are nearest to `ticks` of another.
  package func rescale(_ ticks: Int64, from other: Rational) -> Int64 {
    av_rescale_q(ticks, other.value, value)
  }
}
