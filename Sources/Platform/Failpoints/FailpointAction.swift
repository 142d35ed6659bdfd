/// What happens at a failpoint.
package enum FailpointAction: Sendable, Hashable {
  /// The process ends there and then (SIGKILL).
  case kill
  /// The process stands still until somebody sends SIGCONT.
  case stop
  /// The thread waits.
  case pause(milliseconds: Int)
  /// The connection breaks: before a statement it is not sent, after it its answer is never heard.
  case cut

  /// Reads `kill`, `stop`, `cut` or `pause:500ms`; nil if it is none of them.
  init?(_ text: Substring) {
    switch text {
    case "kill": self = .kill
    case "stop": self = .stop
    case "cut": self = .cut
    default:
      guard text.hasPrefix("pause:"), text.hasSuffix("ms"),
        let count = Int(text.dropFirst("pause:".count).dropLast("ms".count)), count > 0
      else { return nil }
      self = .pause(milliseconds: count)
    }
  }
}
