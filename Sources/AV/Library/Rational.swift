internal import CFFmpeg

/// A fraction: a time base, a frame rate or an aspect ratio (libavutil/rational.h).
package struct Rational: Hashable, Sendable {
  package let numerator: Int32
  package let denominator: Int32

  package init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }

  init(_ value: AVRational) { self.init(value.num, value.den) }

  var value: AVRational { AVRational(num: numerator, den: denominator) }

  /// The quotient; nil if the numerator or the denominator is 0, which FFmpeg uses for an unknown value.
  package var quotient: Double? {
    numerator != 0 && denominator != 0 ? Double(numerator) / Double(denominator) : nil
  }

  /// Converts `ticks` of this time base to seconds.
  package func seconds(_ ticks: Int64) -> Double {
    Double(ticks) * Double(numerator) / Double(denominator)
  }

  /// Converts `ticks` of another time base to the nearest tick of this one.
  package func rescale(_ ticks: Int64, from other: Rational) -> Int64 {
    av_rescale_q(ticks, other.value, value)
  }
}

/// Converts FFmpeg's `AV_NOPTS_VALUE` to nil and back.
enum Timestamp {
  static func known(_ value: Int64) -> Int64? { value == cffmpeg_no_timestamp() ? nil : value }
  static func raw(_ value: Int64?) -> Int64 { value ?? cffmpeg_no_timestamp() }
}
