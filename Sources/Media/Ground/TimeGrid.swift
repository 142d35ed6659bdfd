import AV

/// The constant frame rate of the outputs, onto which clips of any frame rate are mapped: tick k is the k-th frame of an
/// output, which starts at k / rate seconds.
struct TimeGrid: Hashable, Sendable {
  /// Frames per second.
  let rate: Int

  /// The time base of the outputs: one tick for each frame.
  var timeBase: Rational { Rational(1, Int32(rate)) }

  /// The number of ticks of a time span, rounded.
  func ticks(in seconds: Double) -> Int { Int((seconds * Double(rate)).rounded()) }

  /// The number of ticks that fit into a time span.
  func wholeTicks(in seconds: Double) -> Int { Int((seconds * Double(rate) + 1e-6).rounded(.down)) }

  /// The duration of a number of ticks, in seconds.
  func seconds(_ ticks: Int) -> Double { Double(ticks) / Double(rate) }
}
