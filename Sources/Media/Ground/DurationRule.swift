import Model

/// The limits of a definition on the duration and the frame rate of clips.
struct DurationRule: Sendable {
  let limits: Limits

  /// Times are rounded to ticks, whose length differs from file to file: no clip is refused or cut for the rounding, in seconds.
  static let tolerance = 0.005

  /// The reason for which a clip of this duration is refused; nil if it is accepted.
  func durationReason(_ input: InputName, seconds: Double, hasMorePackets: Bool = false) -> Reason? {
    guard let allowed = limits.seconds else { return nil }
    let isAllowed = allowed.shortest - Self.tolerance <= seconds && seconds <= allowed.longest + Self.tolerance
    if isAllowed && !hasMorePackets { return nil }
    return hasMorePackets
      ? .durationOutOfRange(moreThan: seconds, allowed: allowed, input: input)
      : .durationOutOfRange(seconds, allowed: allowed, input: input)
  }

  /// The reason for which two clips with this common span are refused; nil if they are accepted.
  func commonSpanReason(seconds: Double, shortest: Double) -> Reason? {
    if seconds >= shortest - Self.tolerance { return nil }
    return Reason(
      .durationOutOfRange, input: nil,
      finding: "the clips have \(seconds.hundredths) s in common; at least \(shortest.hundredths) s are needed")
  }

  /// The reason for which clips of these durations are no moment; nil if they are accepted.
  func difference(_ seconds: [Double]) -> Reason? {
    guard let shortest = seconds.min(), let longest = seconds.max(),
      longest - shortest > limits.differenceSeconds + Self.tolerance
    else { return nil }
    return Reason(
      .durationsDiffer, input: nil,
      finding: "the clips last \(shortest.hundredths) and \(longest.hundredths) s; "
        + "two clips of one moment differ by at most \(limits.differenceSeconds.hundredths) s")
  }
}
