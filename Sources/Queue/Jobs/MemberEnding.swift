/// How a short job ended.
package enum MemberEnding: Sendable, Hashable {
  /// - Parameter result: a JSON object.
  case completed(Completion = .accepted, result: [UInt8]? = nil)
  /// It is tried again after `seconds`, as its next attempt.
  case retry(seconds: Double, error: String)
  /// It is tried again after `seconds`, and this attempt does not count.
  case snoozed(seconds: Double)
  /// Out of attempts.
  case dead(error: String)
  /// Given back as it was.
  case released
}
