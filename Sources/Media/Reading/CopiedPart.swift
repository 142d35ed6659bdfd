import AV
import Model

/// The packets of a clip that a copy of its used part has: the first ones in decoding order, up to one after which no frame is shown
/// that lies in front of it.
struct CopiedPart: Hashable, Sendable {
  /// The number of packets; nil: all.
  let packets: Int?
  /// The time from the start of the first frame to the end of the last one, in seconds.
  let seconds: Double

  /// Nil if the clip lasts longer than the used part, and no such packet is near its end.
  ///
  /// - Parameters:
  ///   - starts: the timestamps of the frames in decoding order, in ticks.
  ///   - whole: the duration of the clip in seconds.
  ///   - used: the longest time that is used of it; nil: all.
  init?(of starts: [Int64], lasting whole: Double, used: Double?, _ timeBase: Rational) {
    guard let used, let origin = starts.min(), whole > used + DurationRule.tolerance else {
      (packets, seconds) = (nil, whole)
      return
    }
    var latest: [Int64] = []
    latest.reserveCapacity(starts.count)
    for start in starts { latest.append(max(start, latest.last ?? start)) }
    var next = Int64.max
    for count in stride(from: starts.count - 1, to: 0, by: -1) {
      next = min(next, starts[count])
      let end = timeBase.seconds(next - origin)
      guard latest[count - 1] < next, end <= used + DurationRule.tolerance else { continue }
      guard end >= used - Limits.maxEarlyCut else { return nil }
      (packets, seconds) = (count, end)
      return
    }
    return nil
  }
}
