/// The actions of failpoints: `queue.complete.after=kill@3,queue.heartbeat.before=stop`.
struct FailpointPlan: Sendable, Hashable {
  /// An action at the n-th passage of a point; the first is 1.
  struct Rule: Sendable, Hashable {
    let action: FailpointAction
    let passage: Int
  }

  /// The rules by the names of their points.
  let rules: [String: [Rule]]

  /// Parses rules separated by commas.
  init(_ text: String) throws(FailpointError) {
    var rules: [String: [Rule]] = [:]
    for part in text.split(separator: ",") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else {
        throw FailpointError(message: "invalid failpoint '\(part)'", remedy: "Write point=action or point=action@n")
      }
      let action = sides[1].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard let kind = FailpointAction(action[0]) else {
        throw FailpointError(
          message: "unknown action '\(action[0])' of a failpoint",
          remedy: "Write kill, stop, cut, or pause:500ms")
      }
      let passage = action.count == 2 ? Int(action[1]) ?? 0 : 1
      guard passage > 0 else {
        throw FailpointError(
          message: "invalid passage '\(action[1])' of a failpoint",
          remedy: "The first passage is 1: \(sides[0])=\(action[0])@1")
      }
      rules[String(sides[0]), default: []].append(Rule(action: kind, passage: passage))
    }
    self.rules = rules
  }

  /// Throws unless every point exists and supports its actions.
  func check(_ known: [Failpoint]) throws(FailpointError) {
    for (point, rules) in rules.sorted(by: { $0.key < $1.key }) {
      guard let failpoint = known.first(where: { $0.points.contains(point) }) else {
        let prefix = point.prefix { $0 != "." } + "."
        let similar = known.map(\.name).filter { $0.hasPrefix(prefix) }.sorted()
        throw FailpointError(
          message: "unknown failpoint '\(point)'",
          remedy: similar.isEmpty
            ? "Examples are queue.claim.before and queue.claim.after"
            : "Each of these has a .before and an .after: \(similar.joined(separator: ", "))")
      }
      guard failpoint.isOnConnection || !rules.contains(where: { $0.action == .cut }) else {
        throw FailpointError(
          message: "the failpoint '\(point)' has no connection to cut", remedy: "Write kill, stop, or pause:500ms")
      }
    }
  }
}

/// An action at a failpoint.
package enum FailpointAction: Sendable, Hashable {
  /// Kills the process (SIGKILL).
  case kill
  /// Stops the process until it receives SIGCONT.
  case stop
  /// Suspends the thread.
  case pause(milliseconds: Int)
  /// Closes the connection: before a statement it is not sent, after it its result is lost.
  case cut

  /// Parses `kill`, `stop`, `cut` or `pause:500ms`; nil for any other text.
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

/// An error in `TAKE5_FAILPOINTS`.
package struct FailpointError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  package let remedy: String

  package var description: String { "\(message). \(remedy)" }
}
