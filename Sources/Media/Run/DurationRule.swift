import Model

/// The limits of a definition on the duration and the frame rate of clips.
struct DurationRule: Sendable {
  let limits: Limits

  /// Times are rounded to ticks, whose length differs from file to file: no clip is refused or cut for the rounding, in seconds.
  static let tolerance = 0.005
  // A camera records at its nominal rate only on average.
  private static let rateTolerance = 1.02

  /// The reasons for which scanned inputs are refused, in their order; empty if they are accepted.
  func reasons(_ inputs: [ScannedInput]) -> [Reason] {
    var reasons: [Reason] = []
    for input in inputs {
      guard let scan = input.scan, let used = input.used().scan else { continue }
      if scan.times.isEmpty {
        reasons.append(Reason(.corruptVideo, input: input.name, finding: "its video stream has no frames"))
      } else if used.framesPerSecond > limits.framesPerSecond * Self.rateTolerance {
        reasons.append(tooFast(input.name, used))
      } else if let reason = durationReason(input.name, seconds: scan.seconds, hasMorePackets: scan.hasMorePackets) {
        reasons.append(reason)
      }
    }
    let used = inputs.compactMap { $0.scan.map { limits.used(of: $0.seconds) } }
    if reasons.isEmpty, let reason = difference(used) { reasons.append(reason) }
    return reasons
  }

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

  private func tooFast(_ input: InputName, _ scan: PacketScan) -> Reason {
    Reason(
      .tooLarge, input: input,
      finding: "it has \(scan.framesPerSecond.hundredths) frames per second; "
        + "at most \(limits.framesPerSecond.hundredths) are accepted", remedy: .filmSlower)
  }

  private func difference(_ seconds: [Double]) -> Reason? {
    guard let shortest = seconds.min(), let longest = seconds.max(),
      longest - shortest > limits.differenceSeconds + Self.tolerance
    else { return nil }
    return Reason(
      .durationsDiffer, input: nil,
      finding: "the clips last \(shortest.hundredths) and \(longest.hundredths) s; "
        + "two clips of one moment differ by at most \(limits.differenceSeconds.hundredths) s")
  }
}
