/// What is to happen where: `queue.complete.after=kill@3,queue.beat.before=stop`.
struct FailpointPlan: Sendable, Hashable {
  /// An action at the n-th passage of a point; the first is 1.
  struct Rule: Sendable, Hashable {
    let action: FailpointAction
    let passage: Int
  }

  /// By the names of points.
  let rules: [String: [Rule]]

  /// Reads rules, separated by commas.
  init(_ text: String) throws(FailpointError) {
    var rules: [String: [Rule]] = [:]
    for part in text.split(separator: ",") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else {
        throw FailpointError(message: "'\(part)' is no failpoint", remedy: "Write it as point=action or point=action@n")
      }
      let words = sides[1].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard let action = FailpointAction(words[0]) else {
        throw FailpointError(
          message: "'\(words[0])' is nothing that can happen at a failpoint",
          remedy: "Write kill, stop, cut, or pause:500ms")
      }
      let passage = words.count == 2 ? Int(words[1]) ?? 0 : 1
      guard passage > 0 else {
        throw FailpointError(
          message: "'\(words[1])' is no number of a passage",
          remedy: "The first passage is 1: \(sides[0])=\(words[0])@1")
      }
      rules[String(sides[0]), default: []].append(Rule(action: action, passage: passage))
    }
    self.rules = rules
  }

  /// Throws unless every point exists, and can do what is asked of it.
  func check(_ known: [Failpoint]) throws(FailpointError) {
    for (point, rules) in rules.sorted(by: { $0.key < $1.key }) {
      guard let failpoint = known.first(where: { $0.points.contains(point) }) else {
        let topic = point.prefix { $0 != "." } + "."
        let near = known.map(\.name).filter { $0.hasPrefix(topic) }.sorted()
        throw FailpointError(
          message: "there is no failpoint '\(point)'",
          remedy: near.isEmpty
            ? "They are called for instance queue.claim.before and queue.claim.after"
            : "Each of these has a .before and an .after: \(near.joined(separator: ", "))")
      }
      guard failpoint.isOnConnection || !rules.contains(where: { $0.action == .cut }) else {
        throw FailpointError(
          message: "there is no connection to cut at '\(point)'", remedy: "Write kill, stop, or pause:500ms")
      }
    }
  }
}
