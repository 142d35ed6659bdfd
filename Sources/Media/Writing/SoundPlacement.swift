/// Places decoded sound by its timestamps, so that it keeps its time beside the frames.
///
/// What timestamps differ from the number of samples is not made up frame by frame, where it is rounding, but when its sum is audible: a
/// clock that is slow, and buffers that a recorder drops, differ by little in each frame and by much at the end.
struct SoundPlacement: Hashable {
  /// What becomes of a decoded frame; times and lengths are in samples of the output.
  enum Placement: Hashable {
    /// It follows the frame before.
    case following
    /// There is silence before it, until its start.
    case behindGap
    /// So many of its first samples are left out.
    case overlapping(Int)
    /// All of it is left out.
    case repeated
  }

  /// 20 ms of the output: less is rounding.
  static let maxDrift = 960.0

  /// The time at which the next sample comes; nil before the first frame.
  private var next: Double?

  /// Places the next frame.
  ///
  /// - Parameters:
  ///   - start: by its timestamp.
  ///   - length: by its number of samples.
  mutating func place(_ start: Int64, lasting length: Double) -> Placement {
    let (start, expected) = (Double(start), next ?? Double(start))
    let drift = start - expected
    if abs(drift) <= Self.maxDrift {
      next = expected + length
      return .following
    }
    if -drift >= length { return .repeated }
    next = start + length
    return drift > 0 ? .behindGap : .overlapping(Int(exactly: (-drift).rounded()) ?? 0)
  }
}
