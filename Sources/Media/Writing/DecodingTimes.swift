/// The decoding times of an encoder's packets, none of them earlier than with a frame on every tick.
///
/// x264 gives each packet the time of the frame that is shown as many frames before as it reorders, and the first packets a time that is as
/// long before the first frame as the first frames last. A clip that starts slowly is then decoded for longer than it is shown: the last
/// frames lie beyond its duration for a program that counts by decoding times. One tick for each reordered frame is enough.
struct DecodingTimes {
  /// The ticks of the frames before the first packet.
  private var frames: [Int64] = []
  /// The earliest time of the next packet, in ticks; nil before the first one.
  private var earliest: Int64?

  /// Takes the tick of a frame, later than the tick of the frame before, before the encoder gets it.
  mutating func add(_ tick: Int64) { if earliest == nil { frames.append(tick) } }

  /// The time of the next packet.
  ///
  /// - Parameter time: x264's.
  mutating func next(_ time: Int64) -> Int64 {
    let start = earliest ?? first(time)
    earliest = start + 1
    frames = []
    return max(time, start)
  }

  // x264 has the first frame before its time by that of the first frame that does not have to wait: those before it are reordered.
  private func first(_ time: Int64) -> Int64 {
    guard let shown = frames.first else { return time }
    let reordered = frames.prefix { $0 - shown < shown - time }
    return shown - Int64(reordered.count)
  }
}
