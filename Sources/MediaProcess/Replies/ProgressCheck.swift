/// The progress that a child reports during a run.
///
/// A fraction outside of 0 to 1, which includes NaN and infinities, is ignored, and so is one that is not above the
/// fraction before it. More messages than a child sends violate the protocol.
struct ProgressCheck {
  private var last = -1.0
  private var messages = 0

  // Twice what the protocol allows, and some that a parent without processor time receives at once.
  private static let messagesPerSecond = 10.0
  private static let spareMessages = 10.0

  /// The fraction to report, from a message that arrives so long after the request; nil: none.
  mutating func accept(_ fraction: Double, after elapsed: Duration) throws(MediaFailure) -> Double? {
    messages += 1
    if Double(messages) > Self.spareMessages + Self.messagesPerSecond * (elapsed / .seconds(1)) {
      throw MediaFailure(
        .protocolViolation, "the media process's reply is refused: progress has \(messages) messages after \(elapsed)")
    }
    guard fraction > last, 0...1 ~= fraction else { return nil }
    last = fraction
    return fraction
  }
}
