/// The name of one version of a representation (RFC 9110 section 8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
  /// What stands between the quotes.
  package let opaque: String
  /// Whether it promises equal meaning only, not equal bytes.
  package let isWeak: Bool

  /// A strong tag; `opaque` holds no quotes.
  package init(strong opaque: String) {
    self.opaque = opaque
    isWeak = false
  }

  /// Reads `"…"` or `W/"…"`.
  init?(_ text: some StringProtocol) {
    var rest = text.trimmingBlanks
    isWeak = rest.hasPrefix("W/")
    if isWeak { rest = rest.dropFirst(2) }
    guard rest.utf8.count >= 2, rest.hasPrefix("\""), rest.hasSuffix("\"") else { return nil }
    opaque = String(rest.dropFirst().dropLast())
    if opaque.utf8.contains(UInt8(ascii: "\"")) { return nil }
  }

  package var description: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

  /// Whether a request with these header fields is meant for another version (RFC 9110 section 13.1.1).
  package func isExcluded(by headers: HeaderFields) -> Bool {
    let wanted = headers.list("If-Match")
    return !wanted.isEmpty && !wanted.contains("*") && !wanted.contains { EntityTag($0)?.isSame(as: self) == true }
  }

  /// The answer to such a request.
  package func preconditionFailed(remedy: String) -> Problem {
    Problem(
      .preconditionFailed, detail: "The stored version is \(self), which If-Match does not name.", remedy: remedy)
  }

  /// Strong comparison: the same bytes.
  func isSame(as other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

  /// Weak comparison: as good as the same.
  func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }
}
