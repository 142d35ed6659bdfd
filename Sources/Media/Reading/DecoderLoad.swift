import AV

/// How many frames and bits of a clip a decoder takes in a second.
struct DecoderLoad: Hashable {
  /// The most frames in a second of the clip; of a clip that is shorter, its mean frame rate.
  ///
  /// A mean would hide a part with more frames, and an inexact clock makes the shortest interval of two frames.
  let framesPerSecond: Double
  /// The mean bit rate.
  let bitsPerSecond: Int

  // More than any level allows.
  private static let maxBitsPerSecond = 1e12

  /// - Parameters:
  ///   - starts: the timestamps of the frames in decoding order, in ticks.
  ///   - sizes: the bytes of each.
  ///   - first: the number of frames that count; nil: all.
  ///   - seconds: the duration of these.
  init(_ starts: [Int64], _ sizes: [Int], first: Int?, seconds: Double, _ timeBase: Rational) {
    let count = min(max(0, first ?? starts.count), starts.count)
    let times = starts.prefix(count).sorted()
    var most = 0
    var oldest = 0
    for index in times.indices {
      while timeBase.seconds(times[index] - times[oldest]) >= 1 { oldest += 1 }
      most = max(most, index - oldest + 1)
    }
    let bytes = sizes.prefix(count).reduce(0, +)
    let isLong = seconds >= 1
    framesPerSecond = isLong || seconds <= 0 ? Double(most) : Double(count) / seconds
    let bits = seconds > 0 ? min(8 * Double(bytes) / seconds, Self.maxBitsPerSecond) : 0
    bitsPerSecond = Int(bits)
  }
}
