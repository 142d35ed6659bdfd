import Model

/// What a definition limits of scanned inputs.
extension DurationRule {
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

  private func tooFast(_ input: InputName, _ scan: PacketScan) -> Reason {
    Reason(
      .tooLarge, input: input,
      finding: "it has \(scan.framesPerSecond.hundredths) frames per second; "
        + "at most \(limits.framesPerSecond.hundredths) are accepted", remedy: .filmSlower)
  }
}
