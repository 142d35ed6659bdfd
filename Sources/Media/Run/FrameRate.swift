import Model

/// The rate of the grid on which a clip is encoded, by the times of its frames.
///
/// It is not their average: a camera that gives 30 frames per second in the light and 10 in the dark has an average of 20, and a third of
/// the bright frames has no tick of its own on a grid of 20. A frame is encoded once, so a finer grid costs nothing.
struct FrameRate: Hashable, Sendable {
  /// In frames per second.
  let value: Int

  /// The grid of clips whose rate varies, where the plan has no limit.
  private static let finest = 60
  // Part of an interval: timestamps jitter by milliseconds, and a frame that is missing is a whole interval.
  private static let maxJitter = 0.5
  // 29.97 frames per second have a grid of 30; 12.5 would lose frames on one of 12 and stumble on one of 13.
  private static let maxRounding = 0.01
  // The largest limit of a definition. Two frames that are a tick apart seem to have millions in a second, however long the last one is.
  private static let maxConstant = 1000.0

  /// - Parameters:
  ///   - times: of the frames, in seconds, ascending.
  ///   - limit: the largest rate; nil: there is none.
  init(of times: [Double], limit: Int?) {
    let limit = limit.map { max(1, $0) }
    if let constant = Self.constantRate(of: times) {
      value = Self.share(of: constant, within: limit)
    } else {
      value = limit ?? Self.finest
    }
  }

  /// The rate of frames in even intervals, a whole number but for rounding; nil: there is none.
  private static func constantRate(of times: [Double]) -> Int? {
    guard let first = times.first, let last = times.last, times.count > 1, last > first else { return nil }
    let rate = Double(times.count - 1) / (last - first)
    let whole = rate.rounded()
    guard rate <= maxConstant, abs(rate - whole) <= maxRounding * whole else { return nil }
    let early = times.enumerated().map { Double($0.offset) / rate - ($0.element - first) }
    guard let least = early.min(), let most = early.max(), (most - least) * rate <= maxJitter else { return nil }
    return Int(exactly: whole)
  }

  /// The rate within a limit: above it an even share of the frames is shown, each second or third.
  ///
  /// A rate that exceeds the limit by a twentieth counts as the limit: cameras have their nominal rate only on the average.
  private static func share(of rate: Int, within limit: Int?) -> Int {
    guard let limit, rate > limit else { return rate }
    let step = (Double(rate) / (1.05 * Double(limit))).rounded(.up)
    return min(limit, max(1, Int((Double(rate) / step).rounded())))
  }
}

extension TimeGrid {
  /// The grid of all outputs of a plan: at the rate of the canvas, or without a composition at the clips' rate, within
  /// the limit of the clip outputs.
  init(of plan: Plan, _ inputs: [ScannedInput]) {
    let limit = plan.clips.compactMap(\.framesPerSecond).min()
    let rates = inputs.compactMap(\.scan).map { FrameRate(of: $0.frameSeconds, limit: limit).value }
    self.init(rate: plan.compositions.first?.canvas.framesPerSecond ?? rates.max() ?? 1)
  }
}
